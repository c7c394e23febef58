// The exact frequencies of RoPE: base^(-2j/dim) over the reals, or numbers that are given exactly (a stored inv_freq).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/real.hpp"
#include "reference/turns.hpp"

namespace ropewalk::reference {

// theta_j in radians per position, for the pairs j = 0 .. size()-1.
class Frequencies {
 public:
  static Frequencies powers(double base, int dim);                 // level E0; base > 0 and finite, dim even
  static Frequencies given(std::span<const double> exact_values);  // level E1: every double is taken as it is
  int size() const { return static_cast<int>(head_.size()); }
  // theta_j with relative error at most 2^(8-bits); exact where exact(j).
  Real at(int j, int bits) const;
  bool exact(int j) const { return dim_ == 0 || j == 0; }
  // k where theta_j is the power of two 2^k. No other power has finitely many binary digits: with base = M 2^e, M odd,
  // base^(-2j/dim) = m 2^k, m odd, says that M^(2j) m^dim is a power of two, hence 1.
  std::optional<std::int64_t> power_of_two(int j) const;
  // theta_j as head + tail: relative error at most 2^-105 (of values above 2^-900), tail 0 where exact(j). Given
  // infinities and NaNs stand in head.
  double head(int j) const { return head_[index(j)]; }
  double tail(int j) const { return tail_[index(j)]; }
  // frac(theta_j / 2 pi), error at most 2^-192.
  const Turns& turns(int j) const { return turns_[index(j)]; }

 private:
  static std::size_t index(int j) { return static_cast<std::size_t>(j); }
  double base_ = 0;
  int dim_ = 0;  // 0: given
  std::vector<double> head_, tail_;
  std::vector<Turns> turns_;
};

}  // namespace ropewalk::reference
