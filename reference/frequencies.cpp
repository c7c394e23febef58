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

int largest_exponent(const std::vector<Real>& thetas) {
  mpfr_exp_t largest = 0;
  for (const Real& theta : thetas)
    if (mpfr_regular_p(raw(theta)) != 0) largest = std::max(largest, mpfr_get_exp(raw(theta)));
  return static_cast<int>(largest);
}

}  // namespace

Frequencies Frequencies::powers(double base, int dim) { return scaled(base, dim, {}); }

// All theta_j; each loses bits to dim/2 multiplications and to its scaling.
std::vector<Real> Frequencies::evaluated(int bits) const {
  const Real ratio = scales_->ratio(bits);
  Real power = real(1.0, bits);
  std::vector<Real> thetas;
  for (int j = 0; j < size(); ++j) {
    scales_->apply(j, thetas.emplace_back(power));
    mpfr_mul(raw(power), raw(power), raw(ratio), MPFR_RNDN);
  }
  return thetas;
}

Frequencies Frequencies::scaled(double base, int dim, const Scaling& scaling) {
  if (!(base > 0) || !std::isnormal(base)) throw std::invalid_argument("the base must be a positive normal number");
  if (dim < 2 || dim % 2 != 0) throw std::invalid_argument("the rotary width must be even and at least 2");
  Frequencies f;
  const auto pairs = static_cast<std::size_t>(dim) / 2;
  f.scales_ = std::make_shared<const PairScales>(base, dim, scaling);
  f.head_.resize(pairs), f.tail_.resize(pairs), f.exact_.resize(pairs), f.turns_.resize(pairs);
  const int bits = kBits + f.scales_->lost_bits();
  std::vector<Real> thetas = f.evaluated(bits);
  const int max_exponent = largest_exponent(thetas);  // frequencies above 1 have bits before the point
  if (max_exponent > 1) thetas = f.evaluated(bits + max_exponent);
  TurnsOf turns_of(max_exponent);
  Real rest = real(bits + max_exponent);
  for (std::size_t j = 0; j < pairs; ++j) {
    const auto finite = f.scales_->finite(static_cast<int>(j), thetas[j]);
    const Real& theta = finite ? *finite : thetas[j];
    f.head_[j] = mpfr_get_d(raw(theta), MPFR_RNDN);
    if (!std::isfinite(f.head_[j]) || (f.head_[j] == 0) != (mpfr_zero_p(raw(theta)) != 0))
      throw std::invalid_argument("a frequency is beyond the range of float64");
    mpfr_sub_d(raw(rest), raw(theta), f.head_[j], MPFR_RNDN);
    f.tail_[j] = mpfr_get_d(raw(rest), MPFR_RNDN);
    f.exact_[j] = finite && mpfr_zero_p(raw(rest)) != 0;
    f.turns_[j] = turns_of(theta);
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

Real Frequencies::at(int j, int bits) const {
  if (j < 0 || j >= size()) throw std::out_of_range("no such frequency");
  if (exact(j)) return real(head(j), std::max(bits, 53));
  constexpr int kGuard = 40;  // the power multiplies the relative error of the ratio by j
  Real theta = scales_->ratio(bits + kGuard + scales_->lost_bits());
  mpfr_pow_ui(raw(theta), raw(theta), static_cast<unsigned long>(j), MPFR_RNDN);
  scales_->apply(j, theta);
  return theta;
}

std::optional<Real> Frequencies::finite(int j) const {
  constexpr int kBitsOfCandidate = 256;
  if (exact(j)) return real(head(j), 53);
  return scales_->finite(j, at(j, kBitsOfCandidate));
}

bool Frequencies::algebraic(int j) const { return !scales_ || scales_->algebraic(j); }

}  // namespace ropewalk::reference
