// The exact frequencies of RoPE: base^(-2j/dim) over the reals, scaled for longer contexts or not, or numbers that are
// given exactly (a stored inv_freq).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reference/real.hpp"
#include "reference/scaling.hpp"
#include "reference/turns.hpp"

namespace ropewalk::reference {

class PairScales;

// theta_j in radians per position, for the pairs j = 0 .. size()-1.
class Frequencies {
 public:
  static Frequencies powers(double base, int dim);  // level E0; base > 0 and finite, dim even
  // The same, scaled. Throws std::invalid_argument where the scaling is not defined.
  static Frequencies scaled(double base, int dim, const Scaling& scaling);
  static Frequencies given(std::span<const double> exact_values);  // level E1: every double is taken as it is
  // Pair j has the frequency of these' pair pairs[j].
  Frequencies picked(std::span<const int> pairs) const;
  int size() const { return static_cast<int>(head_.size()); }
  // theta_j with relative error at most 2^(8-bits); exact where exact(j).
  Real at(int j, int bits) const;
  // theta_j is head(j).
  bool exact(int j) const { return exact_[index(j)]; }
  // theta_j where it has finitely many binary digits: then it may be a midpoint, and no precision tells its side.
  std::optional<Real> finite(int j) const;
  // Whether theta_j is known to be algebraic: sine and cosine of p theta_j, not 0, are no finite binary numbers then.
  bool algebraic(int j) const;
  // theta_j as head + tail: relative error at most 2^-105 (of values above 2^-900), tail 0 where exact(j). Given
  // infinities and NaNs stand in head.
  double head(int j) const { return head_[index(j)]; }
  double tail(int j) const { return tail_[index(j)]; }
  // frac(theta_j / 2 pi), error at most 2^-192.
  const Turns& turns(int j) const { return turns_[index(j)]; }

 private:
  static std::size_t index(int j) { return static_cast<std::size_t>(j); }
  int power_of(int j) const { return power_.empty() ? j : power_[index(j)]; }
  std::shared_ptr<const PairScales> scales_;  // none: given
  std::vector<int> power_;                    // where they were picked: of each pair; empty: its own number
  std::vector<double> head_, tail_;
  std::vector<bool> exact_;
  std::vector<Turns> turns_;
};

}  // namespace ropewalk::reference
