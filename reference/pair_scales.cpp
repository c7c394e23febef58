#include "reference/pair_scales.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "reference/fallback.hpp"

namespace ropewalk::reference {
namespace {

constexpr int kLostToFactor = 8;  // by few operations with relative errors

double needed(double value, const char* name) {
  if (!(value > 0) || !std::isnormal(value))
    throw std::invalid_argument(std::string(name) + " must be a positive normal number");
  return value;
}

// How many bits of size separate x from 1.
int size_bits(double x) { return std::abs(std::ilogb(x)) + 1; }

void reciprocal_of_root(Real& x, int n) {
  mpfr_rootn_ui(raw(x), raw(x), static_cast<unsigned long>(n), MPFR_RNDN);
  mpfr_ui_div(raw(x), 1, raw(x), MPFR_RNDN);
}

}  // namespace

std::string_view name_of(Band band) {
  switch (band) {
    case Band::kept:
      return "kept";
    case Band::blended:
      return "blended";
    case Band::divided:
      return "divided";
    case Band::stretched:
      return "stretched";
    case Band::still:
      return "still";
  }
  return "";
}

Real ratio_of(double base, int dim, int bits) {
  Real ratio = real(base, bits);
  reciprocal_of_root(ratio, dim / 2);
  return ratio;
}

PairScales::PairScales(double base, int dim, const Scaling& scaling)
    : base_(base), dim_(dim), root_(largest_root(base)), scaling_(scaling) {
  using Type = Scaling::Type;
  max_exponent_ = std::max(0, -std::ilogb(base));
  if (scaling.type == Type::none) return;
  pairs_.resize(static_cast<std::size_t>(dim) / 2);
  lost_bits_ = kLostToFactor;
  if (scaling.type != Type::longrope) max_exponent_ += std::max(0, -std::ilogb(needed(scaling.factor, "factor")));
  switch (scaling.type) {
    case Type::none:
      break;
    case Type::linear:
      divide_all();
      break;
    case Type::dynamic:
      stretch();
      break;
    case Type::yarn:
      blend_by_ramp();
      break;
    case Type::longrope:
      divide_by_lists();
      break;
    case Type::llama3:
      blend_by_wavelength();
      break;
    case Type::proportional:
      keep_still();
      break;
  }
}

void PairScales::divide(std::size_t j, double by) {
  if (by != 1) pairs_[j] = {Band::divided, true, 1 / Rational(by)};
}

void PairScales::divide_all() {
  for (std::size_t j = 0; j < pairs_.size(); ++j) divide(j, scaling_.factor);
}

// base' = base (factor length / original - (factor - 1))^(dim / (dim - 2)), so that base'^(-2j/dim) is the power of the
// base times that of the stretch in brackets, (-2j / (dim - 2)).
void PairScales::stretch() {
  if (dim_ < 4) throw std::invalid_argument("dynamic scaling needs a rotary width of at least 4");
  const double original = needed(scaling_.max_position_embeddings, "max_position_embeddings");
  const Rational factor = scaling_.factor;
  stretch_ = factor * Rational(std::max(scaling_.length, original)) / Rational(original) - (factor - 1);
  if (stretch_ <= 0) throw std::invalid_argument("dynamic scaling is not defined for this factor and length");
  if (stretch_ == 1) return;
  stretched_ = true;
  max_exponent_ += std::max(0, -std::ilogb(mpq_get_d(raw(stretch_))));
  for (std::size_t j = 1; j < pairs_.size(); ++j) pairs_[j].band = Band::stretched;
}

void PairScales::divide_by_lists() {
  const double original = needed(scaling_.original_max_position_embeddings, "original_max_position_embeddings");
  const std::vector<double>& list = scaling_.length > original ? scaling_.long_factor : scaling_.short_factor;
  if (list.size() != pairs_.size()) throw std::invalid_argument("longrope needs one factor for each pair");
  int smallest = 0;
  for (std::size_t j = 0; j < pairs_.size(); ++j) {
    divide(j, needed(list[j], "a factor of longrope"));
    smallest = std::min(smallest, std::ilogb(list[j]));
  }
  max_exponent_ -= smallest;
}

void PairScales::keep_still() {
  // As implementations count them, in float64.
  const double share = needed(scaling_.proportion, "proportion");
  const auto turning = static_cast<std::size_t>(std::clamp<double>(std::floor(share * dim_ / 2), 0, dim_ / 2));
  divide_all();
  for (std::size_t j = turning; j < pairs_.size(); ++j) pairs_[j] = {Band::still, true, Rational(0)};
}

void PairScales::blend_by_ramp() {
  needed(scaling_.original_max_position_embeddings, "original_max_position_embeddings");
  needed(scaling_.beta_fast, "beta_fast");
  needed(scaling_.beta_slow, "beta_slow");
  ramp_.emplace(base_, dim_, scaling_);
  lost_bits_ += size_bits(scaling_.factor);
  if (scaling_.factor == 1) return;
  const Rational divisor = 1 / Rational(scaling_.factor);
  for (std::size_t j = 0; j < pairs_.size(); ++j) {
    const std::optional<Rational> share = ramp_->rational_share(static_cast<int>(j));
    if (!share)
      pairs_[j] = {Band::blended, false, std::nullopt};
    else if (*share != 0)
      pairs_[j] = {*share == 1 ? Band::divided : Band::blended, true, (1 - *share) + *share * divisor};
  }
}

void PairScales::blend_by_wavelength() {
  needed(scaling_.original_max_position_embeddings, "original_max_position_embeddings");
  const double low = needed(scaling_.low_freq_factor, "low_freq_factor");
  const double high = needed(scaling_.high_freq_factor, "high_freq_factor");
  if (low > high) throw std::invalid_argument("low_freq_factor must be at most high_freq_factor");
  if (scaling_.factor == 1) return;
  lost_bits_ += size_bits(scaling_.factor);
  if (low != high) lost_bits_ += std::max(0, std::ilogb(high) - std::ilogb(high - low) + 1);
  for (std::size_t j = 0; j < pairs_.size(); ++j) {
    if (compare_turns(static_cast<int>(j), high) > 0) continue;
    if (compare_turns(static_cast<int>(j), low) < 0)
      divide(j, scaling_.factor);
    else
      pairs_[j] = {Band::blended, false, std::nullopt};
  }
}

int PairScales::compare_turns(int j, double turns) const {
  const double length = scaling_.original_max_position_embeddings;
  // Off by less than 2^-42 of itself: the power's exponent is at most 710 and has an error of 2^-53 of that.
  const double about = length * std::pow(base_, -2.0 * j / dim_) / (2 * std::numbers::pi);
  if (std::fabs(about - turns) > 0x1p-40 * about && std::isnormal(about)) return about > turns ? 1 : -1;
  for (int bits = 192; bits <= kMostBits; bits *= 2) {
    Real exact = ratio_of(base_, dim_, bits), turn = real(bits);
    mpfr_pow_ui(raw(exact), raw(exact), static_cast<unsigned long>(j), MPFR_RNDN);
    mpfr_const_pi(raw(turn), MPFR_RNDN);
    mpfr_mul_d(raw(exact), raw(exact), length, MPFR_RNDN);
    mpfr_div(raw(exact), raw(exact), raw(turn), MPFR_RNDN);
    mpfr_div_2ui(raw(exact), raw(exact), 1, MPFR_RNDN);
    Real error = exact, distance = real(bits);
    mpfr_mul_2si(raw(error), raw(error), 32 - bits, MPFR_RNDU);  // dim / 2 + 4 roundings
    mpfr_sub_d(raw(distance), raw(exact), turns, MPFR_RNDN);
    if (mpfr_cmpabs(raw(distance), raw(error)) > 0) return mpfr_sgn(raw(distance));
  }
  throw std::invalid_argument("the bands of llama3 cannot be decided");
}

Real PairScales::ratio(int bits) const {
  Real ratio = ratio_of(base_, dim_, bits);
  if (!stretched_) return ratio;
  Real other = real(bits);
  mpfr_set_q(raw(other), raw(stretch_), MPFR_RNDN);
  reciprocal_of_root(other, dim_ / 2 - 1);
  mpfr_mul(raw(ratio), raw(ratio), raw(other), MPFR_RNDN);
  return ratio;
}

// llama3: the share that is kept, (turns - low) / (high - low).
Real PairScales::share_of_wavelength(const Real& power) const {
  const int bits = static_cast<int>(mpfr_get_prec(raw(power)));
  Real share = real(bits), other = real(bits);
  mpfr_const_pi(raw(other), MPFR_RNDN);
  mpfr_mul_2ui(raw(other), raw(other), 1, MPFR_RNDN);
  mpfr_mul_d(raw(share), raw(power), scaling_.original_max_position_embeddings, MPFR_RNDN);
  mpfr_div(raw(share), raw(share), raw(other), MPFR_RNDN);
  mpfr_sub_d(raw(share), raw(share), scaling_.low_freq_factor, MPFR_RNDN);
  mpfr_set_d(raw(other), scaling_.high_freq_factor, MPFR_RNDN);
  mpfr_sub_d(raw(other), raw(other), scaling_.low_freq_factor, MPFR_RNDN);
  mpfr_div(raw(share), raw(share), raw(other), MPFR_RNDN);
  return share;
}

void PairScales::apply(int j, Real& power) const {
  const Pair& pair = at(j);
  if (pair.algebraic) {
    if (pair.factor) mpfr_mul_q(raw(power), raw(power), raw(*pair.factor), MPFR_RNDN);
    return;
  }
  const int bits = static_cast<int>(mpfr_get_prec(raw(power)));
  // kept * power + (1 - kept) * power / factor
  Real kept = ramp_ ? ramp_->share(j, bits) : share_of_wavelength(power);
  if (ramp_) mpfr_ui_sub(raw(kept), 1, raw(kept), MPFR_RNDN);
  Real divided = real(bits);
  mpfr_ui_sub(raw(divided), 1, raw(kept), MPFR_RNDN);
  mpfr_div_d(raw(divided), raw(divided), scaling_.factor, MPFR_RNDN);
  mpfr_add(raw(kept), raw(kept), raw(divided), MPFR_RNDN);
  mpfr_mul(raw(power), raw(power), raw(kept), MPFR_RNDN);
}

std::optional<Real> PairScales::finite_number(int j, const Real& value) const {
  static const Rational one = 1;
  const Pair& pair = at(j);
  if (!pair.algebraic) return std::nullopt;
  if (pair.band == Band::still) return real(0, 53);
  if (stretched_ && j > 0) return finite_stretched_power(base_, dim_, j, stretch_, value);
  if (2 * j * root_ % dim_ != 0) return std::nullopt;  // irrational
  return finite_power(base_, dim_, j, pair.factor ? *pair.factor : one);
}

}  // namespace ropewalk::reference
