#include "reference/fallback.hpp"

#include <algorithm>

namespace ropewalk::reference {
namespace {

// value is within error of the true one: round both ends, and the end of the tail that matters is its sign. The tail is
// good to 2^-100 of the amplitude.
Rounded round(const Real& value, const Real& error, double amplitude) {
  Real low = value, high = value, difference = value;
  mpfr_sub(raw(low), raw(value), raw(error), MPFR_RNDD);
  mpfr_add(raw(high), raw(value), raw(error), MPFR_RNDU);
  Rounded r;
  r.head = mpfr_get_d(raw(value), MPFR_RNDN);
  mpfr_sub_d(raw(difference), raw(value), r.head, MPFR_RNDN);
  r.tail = mpfr_get_d(raw(difference), MPFR_RNDN);
  if (r.tail == 0) r.tail = std::copysign(0x1p-1074, mpfr_sgn(raw(difference)));
  const bool one_head = mpfr_get_d(raw(low), MPFR_RNDN) == r.head && mpfr_get_d(raw(high), MPFR_RNDN) == r.head;
  const bool one_side = mpfr_cmp_d(raw(low), r.head) > 0 || mpfr_cmp_d(raw(high), r.head) < 0;
  r.proven = one_head && one_side && mpfr_cmp_d(raw(error), 0x1p-100 * amplitude) < 0;
  return r;
}

}  // namespace

RoundedSinCos sin_cos_by_multiprecision(const Frequencies& frequencies, const Amplitude& amplitude,
                                        std::int64_t position, int j) {
  RoundedSinCos v;
  const bool covered = frequencies.algebraic(j) && amplitude.exact();
  const int most = covered ? kMostBits : kMostBitsOutside;
  for (int bits = 160, before = 0; bits > before && !(v.sin.proven && v.cos.proven);
       before = bits, bits = std::min(2 * bits, most)) {
    Real angle = frequencies.at(j, bits);
    const Real factor = amplitude.at(bits);
    // at() may give more bits than were asked for; keep all, and those of the position.
    Real product = real(static_cast<int>(mpfr_get_prec(raw(angle))) + 64);
    mpfr_mul_si(raw(product), raw(angle), position, MPFR_RNDN);
    Real sin = real(bits), cos = real(bits), error = real(64), magnitude = real(64);
    mpfr_sin_cos(raw(sin), raw(cos), raw(product), MPFR_RNDN);
    // |error| <= (|angle| 2^(8-bits) + |value| 2^-bits) amplitude, and |value| amplitude 2^(8-bits) for the amplitude's
    // own error and the product's.
    const auto bounded = [&](Real& value) {
      mpfr_abs(raw(error), raw(product), MPFR_RNDU);
      mpfr_abs(raw(magnitude), raw(value), MPFR_RNDU);
      mpfr_add(raw(error), raw(error), raw(magnitude), MPFR_RNDU);
      mpfr_mul_2si(raw(error), raw(error), 9 - bits, MPFR_RNDU);
      if (!amplitude.is_one()) {
        mpfr_mul(raw(value), raw(value), raw(factor), MPFR_RNDN);
        mpfr_mul(raw(error), raw(error), raw(factor), MPFR_RNDU);
        mpfr_mul_2ui(raw(error), raw(error), 1, MPFR_RNDU);
      }
      return round(value, error, amplitude.head());
    };
    if (!v.sin.proven) v.sin = bounded(sin);
    if (!v.cos.proven) v.cos = bounded(cos);
  }
  return v;
}

}  // namespace ropewalk::reference
