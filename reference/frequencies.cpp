#include "reference/frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reference/pair_scales.hpp"

namespace ropewalk::reference {
namespace {

// Enough for 192 bits of a turn after dim/2 multiplications, each off by 2^-bits.
constexpr int kBits = 256;

int exponent_of(double x) { return x == 0 || !std::isfinite(x) ? 0 : std::ilogb(x) + 1; }

}  // namespace

Frequencies Frequencies::powers(double base, int dim) { return scaled(base, dim, {}); }

Frequencies Frequencies::scaled(double base, int dim, const Scaling& scaling) {
  if (!(base > 0) || !std::isnormal(base)) throw std::invalid_argument("the base must be a positive normal number");
  if (dim < 2 || dim % 2 != 0) throw std::invalid_argument("the rotary width must be even and at least 2");
  Frequencies f;
  f.scales_ = std::make_shared<const PairScales>(base, dim, scaling);
  const PairScales& scales = *f.scales_;
  const bool scaled = scaling.type != Scaling::Type::none;
  const int bits = kBits + scales.lost_bits() + scales.max_exponent();  // what is above 1 has bits before the point
  const Real ratio = scales.ratio(bits);
  TurnsOf turns_of(scales.max_exponent());
  const auto pairs = static_cast<std::size_t>(dim) / 2;
  f.head_.reserve(pairs), f.tail_.reserve(pairs), f.exact_.reserve(pairs), f.turns_.reserve(pairs);
  Real power = real(1.0, bits), theta = power, rest = power;
  for (int j = 0; j < dim / 2; ++j) {
    if (scaled) {
      mpfr_set(raw(theta), raw(power), MPFR_RNDN);
      scales.apply(j, theta);
    }
    const Real& value = scaled ? theta : power;
    const std::optional<Real> finite = scales.finite(j, value);
    const Real& exact = finite ? *finite : value;
    const double head = mpfr_get_d(raw(exact), MPFR_RNDN);
    if (!std::isfinite(head) || (head == 0) != (mpfr_zero_p(raw(exact)) != 0))
      throw std::invalid_argument("a frequency is beyond the range of float64");
    mpfr_sub_d(raw(rest), raw(exact), head, MPFR_RNDN);
    f.head_.push_back(head);
    f.tail_.push_back(mpfr_get_d(raw(rest), MPFR_RNDN));
    f.exact_.push_back(finite && mpfr_zero_p(raw(rest)) != 0);
    f.turns_.push_back(turns_of(exact));
    mpfr_mul(raw(power), raw(power), raw(ratio), MPFR_RNDN);
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
    f.exact_.push_back(true);
    f.turns_.push_back(std::isfinite(value) ? turns_of(real(value, 53)) : Turns{});
  }
  return f;
}

Frequencies Frequencies::picked(std::span<const int> pairs) const {
  Frequencies f;
  f.scales_ = scales_;
  for (const int j : pairs) {
    if (j < 0 || j >= size()) throw std::invalid_argument("a pair of these frequencies is needed");
    f.power_.push_back(power_of(j));
    f.head_.push_back(head(j));
    f.tail_.push_back(tail(j));
    f.exact_.push_back(exact(j));
    f.turns_.push_back(turns(j));
  }
  return f;
}

Real Frequencies::at(int j, int bits) const {
  if (j < 0 || j >= size()) throw std::out_of_range("no such frequency");
  if (exact(j)) return real(head(j), std::max(bits, 53));
  constexpr int kGuard = 40;  // the power multiplies the relative error of the ratio by j
  Real theta = scales_->ratio(bits + kGuard + scales_->lost_bits());
  mpfr_pow_ui(raw(theta), raw(theta), static_cast<unsigned long>(power_of(j)), MPFR_RNDN);
  scales_->apply(power_of(j), theta);
  return theta;
}

std::optional<Real> Frequencies::finite(int j) const {
  constexpr int kBitsOfCandidate = 256;
  if (exact(j)) return real(head(j), 53);
  return scales_->finite(power_of(j), at(j, kBitsOfCandidate));
}

bool Frequencies::algebraic(int j) const { return !scales_ || scales_->algebraic(power_of(j)); }

}  // namespace ropewalk::reference
