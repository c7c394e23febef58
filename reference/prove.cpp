#include "reference/prove.hpp"

#include <cmath>
#include <limits>

#include "reference/fallback.hpp"
#include "reference/rows.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// sin is 0 or NaN, cos 1 or NaN.
RoundedSinCos exact(double sin, double cos, const Amplitude& amplitude, Proof& proof) {
  proof.exact += 2;
  return {{sin, 0, true}, {cos * amplitude.head(), cos == 1 ? amplitude.tail() : 0, true}};
}

RoundedSinCos by_turn(Turn128 turn, double error) {
  double values[4];
  sin_cos_of_turns(&turn.high, &turn.low, 1, &error, {values, 1});
  return {{values[0], values[1], rounds_to_head(values[0], values[1], error)},
          {values[2], values[3], rounds_to_head(values[2], values[3], error)}};
}

// Below 2^-900 the tail of an inexact angle may have lost bits.
bool is_small(double x, bool is_exact) { return std::fabs(x) < kSmallAngle && (is_exact || std::fabs(x) > 0x1p-900); }

RoundedSinCos by_double_double(const Frequencies& f, std::int64_t position, int j, double error) {
  const auto factor = static_cast<double>(position);
  if (!is_small(factor * f.head(j), f.exact(j)))
    return by_turn(times(f.turns(j), static_cast<std::uint64_t>(position)), error);
  DoubleDouble angle = two_product(f.head(j), factor);
  if (!f.exact(j)) angle = normalised({angle.high, std::fma(f.tail(j), factor, angle.low)});
  RoundedSinCos v = sin_cos_of_small_angle(angle.high, angle.low, f.exact(j));
  if (error > kRoundingTestError) v.sin.proven = v.cos.proven = false;
  return v;
}

}  // namespace

double test_error_of(double head, double rounding_test_error) {
  return head == 0 ? 0 : std::isfinite(head) ? rounding_test_error : std::numeric_limits<double>::infinity();
}

RoundedSinCos prove(const Frequencies& f, const Amplitude& amplitude, std::int64_t position, int j,
                    double rounding_test_error, Proof& proof) {
  if (!std::isfinite(f.head(j))) return exact(kNan, kNan, amplitude, proof);
  if (position == 0 || f.head(j) == 0) return exact(0, 1, amplitude, proof);
  RoundedSinCos v;
  if (amplitude.is_one()) v = by_double_double(f, position, j, rounding_test_error);
  const int fast = int{v.sin.proven} + int{v.cos.proven};
  proof.fast += fast;
  if (fast == 2) return v;
  const RoundedSinCos slow = sin_cos_by_multiprecision(f, amplitude, position, j);
  const auto replace = [&proof](Rounded& value, const Rounded& by) {
    if (value.proven) return;
    value = by;
    ++(by.proven ? proof.fallback : proof.undecided);
  };
  replace(v.sin, slow.sin);
  replace(v.cos, slow.cos);
  return v;
}

RoundedSinCos prove_angle(double angle, const Amplitude& amplitude, double rounding_test_error, Proof& proof) {
  if (!std::isfinite(angle)) return exact(kNan, kNan, amplitude, proof);
  if (angle == 0) return exact(angle, 1, amplitude, proof);  // sin(-0) = -0
  if (amplitude.is_one() && is_small(angle, true) && rounding_test_error <= kRoundingTestError) {
    const RoundedSinCos v = sin_cos_of_small_angle(angle, 0, true);
    if (v.sin.proven && v.cos.proven) {
      proof.fast += 2;
      return v;
    }
  }
  return prove(Frequencies::given({&angle, 1}), amplitude, 1, 0, rounding_test_error, proof);
}

}  // namespace ropewalk::reference
