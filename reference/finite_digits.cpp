#include "reference/finite_digits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace ropewalk::reference {
namespace {

struct OddPart {
  Whole odd;
  std::int64_t exponent = 0;  // of 2
};

OddPart odd_part(Whole x) {
  const auto zeros = static_cast<std::int64_t>(mpz_scan1(raw(x), 0));
  return {Whole(x >> static_cast<unsigned>(zeros)), zeros};
}

struct OddRatio {
  Whole numerator, denominator;
  std::int64_t exponent = 0;
};

OddRatio odd_ratio(const Rational& x) {
  const OddPart above = odd_part(numerator(x)), below = odd_part(denominator(x));
  return {above.odd, below.odd, above.exponent - below.exponent};
}

Whole power(const Whole& x, std::int64_t n) { return pow(x, static_cast<unsigned>(n)); }

Real whole_times_power(const Whole& m, std::int64_t exponent) {
  Real x = real(std::max(53, static_cast<int>(mpz_sizeinbase(raw(m), 2))));
  mpfr_set_z_2exp(raw(x), raw(m), exponent, MPFR_RNDN);
  return x;
}

}  // namespace

int largest_root(double base) {
  const OddRatio b = odd_ratio(Rational(base));
  const std::int64_t e = std::abs(b.exponent);
  if (b.numerator == 1) return static_cast<int>(e);
  for (std::int64_t n = std::min<std::int64_t>(e == 0 ? 53 : e, 53); n > 1; --n) {  // the numerator is below 2^53
    Whole root;
    if (e % n == 0 && mpz_root(raw(root), raw(b.numerator), static_cast<unsigned long>(n)) != 0)
      return static_cast<int>(n);
  }
  return 1;
}

std::optional<Real> finite_power(double base, int dim, int j, const Rational& factor) {
  const std::int64_t common = std::gcd(2 * j, dim), p = 2 * j / common, q = dim / common;
  const OddRatio b = odd_ratio(Rational(base)), c = odd_ratio(factor);
  Whole root;
  mpz_root(raw(root), raw(b.numerator), static_cast<unsigned long>(q));
  const Whole divisor = power(root, p);
  if (c.denominator != 1 || c.numerator % divisor != 0) return std::nullopt;
  return whole_times_power(c.numerator / divisor, c.exponent - b.exponent / q * p);
}

std::optional<Real> finite_stretched_power(double base, int dim, int j, const Rational& stretch, const Real& value) {
  const OddRatio b = odd_ratio(Rational(base)), r = odd_ratio(stretch);
  // The candidate: the number nearest to `value` that has as many digits as m may have.
  Real candidate = real(static_cast<int>(mpz_sizeinbase(raw(r.denominator), 2)) + 1);
  mpfr_set(raw(candidate), raw(value), MPFR_RNDN);
  Real distance = real(64);
  mpfr_sub(raw(distance), raw(value), raw(candidate), MPFR_RNDA);
  mpfr_div(raw(distance), raw(distance), raw(value), MPFR_RNDA);
  if (mpfr_cmpabs(raw(distance), raw(real(0x1p-199, 53))) > 0) return std::nullopt;
  Whole m;
  const std::int64_t k = mpfr_get_z_2exp(raw(m), raw(candidate));
  const OddPart whole = odd_part(m);
  // (m 2^k)^n B^a 2^(e a) (R 2^g / S)^c = 1, with whole exponents n = lcm(dim, dim - 2), a = 2 j n / dim and so on.
  std::int64_t n = std::lcm<std::int64_t>(dim, dim - 2);
  std::int64_t of_base = 2 * j * (n / dim), of_stretch = 2 * j * (n / (dim - 2));
  const std::int64_t common = std::gcd(n, std::gcd(of_base, of_stretch));
  n /= common, of_base /= common, of_stretch /= common;
  if ((whole.exponent + k) * n + b.exponent * of_base + r.exponent * of_stretch != 0) return std::nullopt;
  if (power(whole.odd, n) * power(b.numerator, of_base) * power(r.numerator, of_stretch) !=
      power(r.denominator, of_stretch)) {
    return std::nullopt;
  }
  return candidate;
}

}  // namespace ropewalk::reference
