#include "reference/lora_scale.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reference/fallback.hpp"

namespace ropewalk::reference {
namespace {

// The whole number whose square r is, or 0.
std::int64_t root_of(std::int64_t r) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(r)));
  while (root * root > r) --root;
  while ((root + 1) * (root + 1) <= r) ++root;
  return root * root == r ? root : 0;
}

// gamma = alpha / divisor; 0 if the divisor is irrational.
std::int64_t divisor_of(const LoraScale& s) {
  return s.kind == LoraScale::plain ? 1 : s.kind == LoraScale::over_r ? s.r : root_of(s.r);
}

// numerator / divisor, cut to 256 bits and rounded to odd: whatever is rounded to fewer than 255 bits next comes out as
// if rounded at once, and comparisons with doubles come out right (Boldo and Melquiond 2008).
Real odd_quotient(const Real& numerator, std::int64_t divisor, bool& exact) {
  Real q = real(256);
  exact = mpfr_div_si(raw(q), raw(numerator), divisor, MPFR_RNDZ) == 0;
  const bool even = mpfr_min_prec(raw(q)) < 256;
  if (!exact && even) mpfr_sgn(raw(q)) > 0 ? mpfr_nextabove(raw(q)) : mpfr_nextbelow(raw(q));
  return q;
}

ExactRounding rounded(Format format, const Real& value, bool exact) {
  const double head = mpfr_get_d(raw(value), MPFR_RNDN);
  if (!std::isfinite(head)) return {round_head_tail(head, 0, format), false};
  Real rest = real(320);  // exact for 256 bits; the sign is right for any number of them
  mpfr_sub_d(raw(rest), raw(value), head, MPFR_RNDN);
  const double tail = mpfr_get_d(raw(rest), MPFR_RNDN);
  const double side = tail != 0 ? tail : std::copysign(0x1p-1074, mpfr_sgn(raw(rest)));
  const bool tail_exact = exact && mpfr_cmp_d(raw(rest), tail) == 0;
  return {round_head_tail(head, mpfr_zero_p(raw(rest)) != 0 ? 0 : side, format),
          tail_exact && is_tie(format, head, tail)};
}

}  // namespace

Enclosure enclosed(const LoraScale& s) {
  Real g = real(320);
  bool exact = true;
  if (const std::int64_t divisor = divisor_of(s); divisor != 0) {
    mpfr_set_d(raw(g), s.alpha, MPFR_RNDN);
    exact = mpfr_div_si(raw(g), raw(g), divisor, MPFR_RNDN) == 0;
  } else {
    mpfr_set_si(raw(g), s.r, MPFR_RNDN);
    mpfr_rec_sqrt(raw(g), raw(g), MPFR_RNDN);
    exact = mpfr_mul_d(raw(g), raw(g), s.alpha, MPFR_RNDN) == 0 && s.alpha == 0;
  }
  Enclosure e;
  const auto take = [&g] {
    const double v = mpfr_get_d(raw(g), MPFR_RNDN);
    mpfr_sub_d(raw(g), raw(g), v, MPFR_RNDN);
    return v;
  };
  e.head = take();
  e.tail = take();
  mpfr_abs(raw(g), raw(g), MPFR_RNDU);
  // The 320 bits themselves are off by less than 2^-318 of gamma.
  if (!exact || mpfr_zero_p(raw(g)) == 0)
    e.bound = kInflation * mpfr_get_d(raw(g), MPFR_RNDU) + 0x1p-300 * std::fabs(e.head) + 0x1p-1073;
  return e;
}

ExactRounding round_update(Format format, const Real& base, const Real& factor, const LoraScale& s) {
  const bool no_update = mpfr_zero_p(raw(factor)) != 0 || s.alpha == 0;
  if (const std::int64_t divisor = no_update ? 1 : divisor_of(s); divisor != 0) {
    const Real alpha = real(no_update ? 0 : s.alpha, 53);
    Real numerator = base;
    int bits = static_cast<int>(std::max(mpfr_get_prec(raw(base)), mpfr_get_prec(raw(factor)))) + 64;
    for (bool exact = false; !exact; bits *= 2) {  // base and factor may be far apart
      Real product = real(bits);
      numerator = real(bits);
      exact = mpfr_mul_si(raw(product), raw(base), divisor, MPFR_RNDN) == 0;
      exact &= mpfr_fma(raw(numerator), raw(factor), raw(alpha), raw(product), MPFR_RNDN) == 0;
    }
    bool exact_quotient = false;
    const Real quotient = odd_quotient(numerator, divisor, exact_quotient);
    return rounded(format, quotient, exact_quotient);
  }
  // base + alpha factor / sqrt(r) is irrational, so that enough bits decide (Ziv).
  for (int precision = 256; precision <= kMostBits; precision *= 2) {
    Real low = real(precision), high = real(precision), update = real(precision);
    mpfr_set_si(raw(update), s.r, MPFR_RNDN);
    mpfr_rec_sqrt(raw(update), raw(update), MPFR_RNDN);
    mpfr_mul_d(raw(update), raw(update), s.alpha, MPFR_RNDN);
    mpfr_mul(raw(update), raw(update), raw(factor), MPFR_RNDN);
    Real error = real(64);  // three roundings of 2^-precision each
    mpfr_abs(raw(error), raw(update), MPFR_RNDU);
    mpfr_mul_2si(raw(error), raw(error), 2 - precision, MPFR_RNDU);
    mpfr_sub(raw(low), raw(update), raw(error), MPFR_RNDD);
    mpfr_add(raw(low), raw(low), raw(base), MPFR_RNDD);
    mpfr_add(raw(high), raw(update), raw(error), MPFR_RNDU);
    mpfr_add(raw(high), raw(high), raw(base), MPFR_RNDU);
    const double value = rounded(format, low, false).value;
    const bool one_sign = mpfr_sgn(raw(low)) == mpfr_sgn(raw(high));
    if (one_sign && value == rounded(format, high, false).value) return {value, false};
  }
  throw std::logic_error("LoRA reference: an irrational number that cannot be told from a midpoint");
}

}  // namespace ropewalk::reference
