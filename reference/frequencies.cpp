#include "reference/frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ropewalk::reference {
namespace {

// Enough for 192 bits of a turn after dim/2 multiplications, each off by 2^-bits.
constexpr int kBits = 256;

// base^(-2/dim), relative error at most 2^(2-bits).
Real ratio_of(double base, int dim, int bits) {
  Real ratio = real(base, bits);
  mpfr_rootn_ui(raw(ratio), raw(ratio), static_cast<unsigned long>(dim) / 2, MPFR_RNDN);
  mpfr_ui_div(raw(ratio), 1, raw(ratio), MPFR_RNDN);
  return ratio;
}

int exponent_of(double x) { return x == 0 || !std::isfinite(x) ? 0 : std::ilogb(x) + 1; }

}  // namespace

Frequencies Frequencies::powers(double base, int dim) {
  if (!(base > 0) || !std::isnormal(base)) throw std::invalid_argument("the base must be a positive normal number");
  if (dim < 2 || dim % 2 != 0) throw std::invalid_argument("the rotary width must be even and at least 2");
  Frequencies f;
  f.base_ = base;
  f.dim_ = dim;
  const int max_exponent = std::max(0, 1 - exponent_of(base));  // frequencies grow where base < 1
  const int bits = kBits + max_exponent;
  const Real ratio = ratio_of(base, dim, bits);
  TurnsOf turns_of(max_exponent);
  Real theta = real(1.0, bits), rest = real(bits);
  for (int j = 0; j < dim / 2; ++j) {
    const double head = mpfr_get_d(raw(theta), MPFR_RNDN);
    mpfr_sub_d(raw(rest), raw(theta), head, MPFR_RNDN);
    f.head_.push_back(head);
    f.tail_.push_back(mpfr_get_d(raw(rest), MPFR_RNDN));
    f.turns_.push_back(turns_of(theta));
    mpfr_mul(raw(theta), raw(theta), raw(ratio), MPFR_RNDN);
  }
  return f;
}

Frequencies Frequencies::given(std::span<const double> exact_values) {
  Frequencies f;
  int max_exponent = 0;
  for (const double value : exact_values) max_exponent = std::max(max_exponent, exponent_of(value));
  TurnsOf turns_of(max_exponent);
  for (const double value : exact_values) {
    f.head_.push_back(value);
    f.tail_.push_back(0);
    f.turns_.push_back(std::isfinite(value) ? turns_of(real(value, 53)) : Turns{});
  }
  return f;
}

Real Frequencies::at(int j, int bits) const {
  if (j < 0 || j >= size()) throw std::out_of_range("no such frequency");
  if (dim_ == 0) return real(head(j), std::max(bits, 53));
  constexpr int kGuard = 40;  // the power multiplies the relative error of the ratio by j
  Real theta = ratio_of(base_, dim_, bits + kGuard);
  mpfr_pow_ui(raw(theta), raw(theta), static_cast<unsigned long>(j), MPFR_RNDN);
  return theta;
}

std::optional<std::int64_t> Frequencies::power_of_two(int j) const {
  if (dim_ == 0) return std::nullopt;
  int exponent = 0;
  if (std::frexp(base_, &exponent) != 0.5) return std::nullopt;
  const std::int64_t numerator = std::int64_t{2} * j * (exponent - 1);
  if (numerator % dim_ != 0) return std::nullopt;
  return -numerator / dim_;
}

}  // namespace ropewalk::reference
