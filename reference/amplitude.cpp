#include "reference/amplitude.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "reference/fallback.hpp"
#include "reference/finite_digits.hpp"

namespace ropewalk::reference {
namespace {

// 1 + m ln(f) / 10, f > 1 and m > 0: relative error at most 2^(4-bits).
Real one_plus_log(double f, double m, int bits) {
  Real x = real(f, bits + 53);
  mpfr_log(raw(x), raw(x), MPFR_RNDN);
  mpfr_mul_d(raw(x), raw(x), m, MPFR_RNDN);
  mpfr_div_ui(raw(x), raw(x), 10, MPFR_RNDN);
  mpfr_add_ui(raw(x), raw(x), 1, MPFR_RNDN);
  return x;
}

// sqrt(1 + ln f / ln length), f and length above 1.
Real root_of_logs(const Rational& f, double length, int bits) {
  constexpr int kGuard = 64;  // the logarithm of a quotient next to 1 is off by the quotient's rounding
  Real x = real(bits + kGuard), y = real(length, bits + kGuard);
  mpfr_set_q(raw(x), raw(f), MPFR_RNDN);
  mpfr_log(raw(x), raw(x), MPFR_RNDN);
  mpfr_log(raw(y), raw(y), MPFR_RNDN);
  mpfr_div(raw(x), raw(x), raw(y), MPFR_RNDN);
  mpfr_add_ui(raw(x), raw(x), 1, MPFR_RNDN);
  mpfr_sqrt(raw(x), raw(x), MPFR_RNDN);
  return x;
}

double positive(double value, const char* name) {
  if (!(value > 0) || !std::isnormal(value))
    throw std::invalid_argument(std::string(name) + " must be a positive normal number");
  return value;
}

// sqrt(1 + ln f / ln length) where it is a fraction of 32, else 0. With a denominator 2^k above 1, length is a 4^k-th
// power, which no double is for k > 5; and f^1024 = length^(n^2 - 1024) where the root is n / 32.
double finite_root_of_logs(const Rational& f, double length) {
  constexpr double kParts = 32;
  const double about = mpfr_get_d(raw(root_of_logs(f, length, 128)), MPFR_RNDN) * kParts;
  const double n = std::nearbyint(about);
  constexpr double kMost = 1024;  // a quotient of logarithms of doubles above 1000 has a length next to 1
  if (std::fabs(about - n) > 0x1p-30 || n > kMost) return 0;
  auto of_f = static_cast<unsigned>(kParts * kParts), of_length = static_cast<unsigned>(n * n - kParts * kParts);
  const unsigned common = std::gcd(of_f, of_length);
  const auto power = [](const Rational& x, unsigned exponent) {
    return Rational(pow(numerator(x), exponent), pow(denominator(x), exponent));
  };
  return power(f, of_f / common) == power(Rational(length), of_length / common) ? n / kParts : 0;
}

Amplitude of_yarn(const Scaling& s) {
  if (s.attention_factor) return Amplitude(*s.attention_factor);
  const double f = positive(s.factor, "factor");
  if (f <= 1) return {};
  if (!s.mscale || !s.mscale_all_dim) return Amplitude::evaluated([f](int bits) { return one_plus_log(f, 1, bits); });
  const double m = positive(*s.mscale, "mscale"), all = positive(*s.mscale_all_dim, "mscale_all_dim");
  if (m == all) return {};
  return Amplitude::evaluated([f, m, all](int bits) {
    Real x = one_plus_log(f, m, bits);
    mpfr_div(raw(x), raw(x), raw(one_plus_log(f, all, bits)), MPFR_RNDN);
    return x;
  });
}

Amplitude of_longrope(const Scaling& s) {
  if (s.attention_factor) return Amplitude(*s.attention_factor);
  const double length = positive(s.original_max_position_embeddings, "original_max_position_embeddings");
  const Rational f = s.max_position_embeddings > 0 ? Rational(s.max_position_embeddings) / Rational(length)
                                                   : Rational(positive(s.factor, "factor"));
  if (f <= 1) return {};
  if (length <= 1) throw std::invalid_argument("original_max_position_embeddings must be above 1");
  if (const double finite = finite_root_of_logs(f, length); finite != 0) return Amplitude(finite);
  return Amplitude::evaluated([f, length](int bits) { return root_of_logs(f, length, bits); });
}

}  // namespace

Amplitude::Amplitude(double exact) : head_(exact) {
  constexpr double kLargest = 0x1p500;  // products with tails stay within the range of doubles
  if (!(exact >= 1 / kLargest && exact <= kLargest))
    throw std::invalid_argument("the amplitude is beyond 2^-500 to 2^500");
}

Amplitude Amplitude::evaluated(Evaluate evaluate) {
  for (int bits = 160; bits <= kMostBits; bits *= 2) {
    const Real value = evaluate(bits);
    Real error = value, down = value, up = value, rest = value;
    mpfr_mul_2si(raw(error), raw(value), 8 - bits, MPFR_RNDU);
    mpfr_sub(raw(down), raw(value), raw(error), MPFR_RNDD);
    mpfr_add(raw(up), raw(value), raw(error), MPFR_RNDU);
    Amplitude a(mpfr_get_d(raw(value), MPFR_RNDN));
    const bool one_side = mpfr_cmp_d(raw(down), a.head_) > 0 || mpfr_cmp_d(raw(up), a.head_) < 0;
    if (!one_side || mpfr_get_d(raw(down), MPFR_RNDN) != mpfr_get_d(raw(up), MPFR_RNDN)) continue;
    mpfr_sub_d(raw(rest), raw(value), a.head_, MPFR_RNDN);
    a.tail_ = mpfr_get_d(raw(rest), MPFR_RNDN);
    a.evaluate_ = std::move(evaluate);
    return a;
  }
  throw std::invalid_argument("the amplitude cannot be rounded");
}

Real Amplitude::at(int bits) const { return evaluate_ ? evaluate_(bits) : real(head_, std::max(bits, 53)); }

Amplitude Amplitude::of(const Scaling& scaling) {
  if (scaling.type == Scaling::Type::yarn) return of_yarn(scaling);
  if (scaling.type == Scaling::Type::longrope) return of_longrope(scaling);
  return {};
}

}  // namespace ropewalk::reference
