#include "tests/reference/arb_oracle.hpp"

#include <cmath>
#include <stdexcept>

namespace ropewalk::reference {
namespace {

// To nearest, ties to even, as a whole number of quanta.
double round_to_format(const arf_t x, Format format) {
  if (arf_is_zero(x)) return 0;
  const slong exponent = std::max<slong>(fmpz_get_si(ARF_EXPREF(x)) - 1, min_exponent_of(format));
  const slong quantum = exponent - (precision_of(format) - 1);
  arf_t scaled;
  arf_init(scaled);
  arf_mul_2exp_si(scaled, x, -quantum);
  fmpz_t quanta;
  fmpz_init(quanta);
  arf_get_fmpz(quanta, scaled, ARF_RND_NEAR);
  const double rounded = std::ldexp(fmpz_get_d(quanta), static_cast<int>(quantum));
  fmpz_clear(quanta);
  arf_clear(scaled);
  return rounded;
}

// False if the ball is too wide to tell.
bool decide(const arb_t value, slong bits, Truth& truth) {
  arf_t low, high;
  arf_init(low);
  arf_init(high);
  arb_get_lbound_arf(low, value, bits);
  arb_get_ubound_arf(high, value, bits);
  bool decided = mag_cmp_2exp_si(arb_radref(value), -120) < 0;  // else the distance to a claim would be the ball's
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    truth.rounded[i] = round_to_format(low, kFormats[i]);
    decided = decided && truth.rounded[i] == round_to_format(high, kFormats[i]);
  }
  const int low_side = arf_cmp_d(low, truth.rounded[0]), high_side = arf_cmp_d(high, truth.rounded[0]);
  truth.side = low_side;
  decided = decided && (low_side > 0) == (high_side > 0) && (low_side < 0) == (high_side < 0);
  arf_clear(low);
  arf_clear(high);
  return decided;
}

double distance(const arb_t value, Claim claim) {
  arb_t rest, part;
  arb_init(rest);
  arb_init(part);
  arb_set_d(part, claim.head);
  arb_sub(rest, value, part, 2000);
  arb_set_d(part, claim.tail);
  arb_sub(rest, rest, part, 2000);
  mag_t bound;
  mag_init(bound);
  arb_get_mag(bound, rest);
  const double result = mag_get_d(bound);
  mag_clear(bound);
  arb_clear(part);
  arb_clear(rest);
  return result;
}

}  // namespace

ArbReal::ArbReal(Evaluate evaluate) : evaluate_(std::move(evaluate)) { arb_init(ball_); }
ArbReal::ArbReal(const ArbReal& other) : ArbReal(other.evaluate_) {}
ArbReal::~ArbReal() { arb_clear(ball_); }

ArbReal ArbReal::exactly(double value) {
  return ArbReal([value](arb_t out, slong) { arb_set_d(out, value); });
}

ArbReal ArbReal::power(double base, int dim, int j) {
  return ArbReal([base, dim, j](arb_t out, slong bits) {
    arb_set_d(out, base);
    arb_log(out, out, bits);
    arb_mul_si(out, out, -2 * j, bits);
    arb_div_si(out, out, dim, bits);
    arb_exp(out, out, bits);
  });
}

const arb_struct* ArbReal::at(slong bits) {
  if (bits_ == bits) return ball_;
  bits_ = bits;
  evaluate_(ball_, bits);
  return ball_;
}

Truth truth_of(ArbReal& x) {
  Truth truth;
  for (slong bits = 192; bits < 100000; bits *= 2)
    if (decide(x.at(bits), bits, truth)) return truth;
  throw std::runtime_error("the oracle cannot decide");
}

Judged judge(ArbReal& theta, std::int64_t position, Claim sin, Claim cos) {
  ArbReal one = ArbReal::exactly(1);
  return judge(theta, one, position, sin, cos);
}

Judged judge(ArbReal& theta, ArbReal& amplitude, std::int64_t position, Claim sin, Claim cos) {
  Judged judged{};
  arb_t angle, sine, cosine;
  arb_init(angle);
  arb_init(sine);
  arb_init(cosine);
  bool decided = false;
  for (slong bits = 192; !decided && bits < 100000; bits *= 2) {
    arb_mul_si(angle, theta.at(bits + 64), position, bits + 64);
    arb_sin_cos(sine, cosine, angle, bits);
    arb_mul(sine, sine, amplitude.at(bits + 64), bits);
    arb_mul(cosine, cosine, amplitude.at(bits + 64), bits);
    decided = decide(sine, bits, judged.sin) && decide(cosine, bits, judged.cos);
  }
  if (!decided) throw std::runtime_error("the oracle cannot decide");
  judged.sin_error = distance(sine, sin);
  judged.cos_error = distance(cosine, cos);
  arb_clear(cosine);
  arb_clear(sine);
  arb_clear(angle);
  return judged;
}

}  // namespace ropewalk::reference
