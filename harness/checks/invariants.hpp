// What must hold whatever the reference says: the size of sines and cosines, their squares, row 0, the significand bits
// in use, and that neither the place in the tensor nor the number of threads changes a bit.
#pragma once

#include <set>
#include <string>

#include "harness/checks/truth.hpp"
#include "harness/recipes/roundings.hpp"

namespace ropewalk {

class InvariantsCheck {
 public:
  InvariantsCheck(std::string stage, const Budget& budget) : stage_(std::move(stage)), budget_(&budget) {}
  void judge_by(const Budget& budget) { budget_ = &budget; }  // as AccuracyCheck's
  void add(const Stages& observed, Truth& truth, bool first_block);
  // The same rows, computed in other blocks and by another number of threads: their bits must not change. Only for
  // subjects that compute.
  void add_again(const Stages& once, const Stages& again, const std::string& how);
  void conclude(Result& result) const;

 private:
  void squares(const Stages& observed);
  void significands(const std::vector<double>& values, DType dtype);
  void row_zero(const std::vector<double>& values, Truth& truth, double room);
  reference::Format expected_format() const;

  std::string stage_, dtype_;
  const Budget* budget_;
  std::int64_t compared_ = 0, beyond_ = 0, not_finite_ = 0, row_zero_wrong_ = 0, again_compared_ = 0;
  std::set<std::string> changed_by_;
  double amplitude_ = 1, largest_ = 0, worst_square_ = 0, worst_square_ratio_ = 0, worst_square_limit_ = 0;
  int bits_ = 0, dtype_bits_ = 53;
  std::int64_t usable_ = 0;  // values whose significand says something about the bits in use
};

}  // namespace ropewalk
