// Accuracy and invariants of the stages of one table that is already in memory.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/recipes/roundings.hpp"
#include "harness/report/result.hpp"
#include "harness/subjects/subject.hpp"
#include "reference/table.hpp"

namespace ropewalk {

// The stages in the order in which they are computed.
inline const std::vector<std::string> kPipeline{"inv_freq", "positions", "angle", "cos", "sin"};

struct Judgement {
  std::vector<Result> results;  // accuracy of each stage in the order of kPipeline, then the invariants
  std::string first_stage;      // the first whose local error exceeds its limit; empty: none does
  reference::Proof proof;
};

// The budget of this recipe on a device that nobody knows.
Budget budget_for(const std::string& claims, const Case& problem);

// positions_are_truth: rows were chosen by the stage `positions`, so that nothing can be said of it.
Judgement judge(const Case& problem, const Stages& stages, const Budget& budget, bool positions_are_truth);

}  // namespace ropewalk
