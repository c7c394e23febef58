// Accuracy of one stage of one subject: local, inherited and total error against limits that follow from the recipe
// that the subject claims to be. docs/numerics.md defines all of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/checks/row_errors.hpp"
#include "harness/checks/statistics.hpp"
#include "harness/checks/truth.hpp"
#include "harness/recipes/roundings.hpp"

namespace ropewalk {

class AccuracyCheck {
 public:
  // `user` replaces the derived limits by one on the total error.
  AccuracyCheck(std::string stage, const Budget& budget, std::optional<UserLimit> user);

  // Of a state: the next call is judged by this budget, which must outlive the check.
  void judge_by(const Budget& budget) { budget_ = &budget; }

  // One block of rows. Throws SubjectError if the subject does not deliver the stage, or not in this shape.
  void add(const Stages& observed, Truth& truth, bool first_block);

  // Writes verdict, numbers, limits and the deciding element into `result`. Verdict: pass or fail.
  void conclude(Result& result) const;
  bool local_failed() const { return local_ratio_ > 1; }

 private:
  struct Made {  // numbers of a row that are made for it alone
    std::vector<double> local_head, local_tail, total_head, total_tail, local_limit, total_limit;
  };
  std::pair<std::string, std::string> formulas(const Budget& budget) const;  // of the local and the total limit
  void resize(std::size_t columns);
  ComparedRow row(const double* got) const;
  void positions(const Stages& observed, Truth& truth);
  void frequencies(const Stages& observed, Truth& truth);
  void angle_limits(const reference::Frequencies& exact);
  void angles(const Stages& observed, Truth& truth);
  void trigonometry(const Stages& observed, Truth& truth);
  // `of_pairs`: the position that each column turns by; empty: `position`, all of them.
  void compare(const ComparedRow& row, std::int64_t index, std::int64_t position, DType dtype,
               std::span<const double> of_pairs = {});

  std::string stage_;
  const Budget *budget_, *worst_budget_;
  std::optional<UserLimit> user_;
  Statistics statistics_;
  AccuracyError error_;
  std::int64_t mismatched_ = 0, nan_ = 0, inf_ = 0, rows_seen_ = 0;
  double local_ratio_ = 0, total_ratio_ = 0;
  Worst worst_;
  double worst_local_limit_ = 0, worst_total_limit_ = 0;
  bool any_limit_ = false, any_nonzero_position_ = false;
  std::string dtype_;
  Made made_;
  std::vector<double> difference_, ulps_, rounded_, total_angle_, local_angle_;
};

}  // namespace ropewalk
