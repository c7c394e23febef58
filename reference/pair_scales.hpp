// What a scaling makes of each power base^(-2j/dim), over the reals. Definitions: docs/numerics.md, section 1.8.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reference/finite_digits.hpp"
#include "reference/yarn_ramp.hpp"

namespace ropewalk::reference {

enum class Band {
  kept,
  blended,    // between kept and divided
  divided,    // by the factor, or by the pair's own (longrope)
  stretched,  // a power of another base (dynamic)
  still,      // frequency 0
};
std::string_view name_of(Band band);

class PairScales {
 public:
  // Throws std::invalid_argument where the scaling is not defined.
  PairScales(double base, int dim, const Scaling& scaling);

  Band band(int j) const { return at(j).band; }
  // Whether theta_j is known to be algebraic, so that the theorem of docs/numerics.md, 1.5, holds.
  bool algebraic(int j) const { return at(j).algebraic; }

  // The number whose j-th power is theta_j but for its factor: base^(-2/dim), for dynamic times that of the stretch.
  // Relative error at most 2^(4-bits).
  Real ratio(int bits) const;
  // theta_j from that power; loses at most the last lost_bits() bits.
  void apply(int j, Real& power) const;
  int lost_bits() const { return lost_bits_; }
  // At least 0; every theta_j is below 2^(1 + max_exponent()).
  int max_exponent() const { return max_exponent_; }
  // theta_j where it has finitely many binary digits; `value` is theta_j with a relative error of at most 2^-200.
  std::optional<Real> finite(int j, const Real& value) const {
    const bool irrational = !stretched_ && pairs_.empty() && 2 * j * root_ % dim_ != 0;
    return irrational ? std::nullopt : finite_number(j, value);
  }

  const std::optional<YarnRamp>& ramp() const { return ramp_; }

 private:
  struct Pair {
    Band band = Band::kept;
    bool algebraic = true;           // else the factor is computed when it is needed
    std::optional<Rational> factor;  // of the power; none: 1
  };
  void divide(std::size_t j, double by);
  const Pair& at(int j) const {
    static const Pair kept;
    return pairs_.empty() ? kept : pairs_[static_cast<std::size_t>(j)];
  }
  void divide_all();
  void stretch();
  void divide_by_lists();
  void blend_by_ramp();
  void blend_by_wavelength();
  void keep_still();
  // Turns of pair j over the original length, against a number of turns: their sign. Never 0, as pi is transcendental.
  int compare_turns(int j, double turns) const;
  Real share_of_wavelength(const Real& power) const;
  std::optional<Real> finite_number(int j, const Real& value) const;

  double base_;
  int dim_;
  std::int64_t root_;  // largest_root(base)
  Scaling scaling_;
  std::vector<Pair> pairs_;  // empty without scaling
  Rational stretch_ = 1;
  std::optional<YarnRamp> ramp_;
  bool stretched_ = false;
  int lost_bits_ = 0, max_exponent_ = 0;
};

// base^(-2/dim), relative error at most 2^(2-bits).
Real ratio_of(double base, int dim, int bits);

}  // namespace ropewalk::reference
