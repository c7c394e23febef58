// Runs the checks of one case: block by block through its positions, all subjects side by side.
#pragma once

#include <atomic>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/checks/plan.hpp"
#include "harness/checks/subject_pool.hpp"
#include "harness/report/result.hpp"
#include "reference/table.hpp"

namespace ropewalk {

struct CaseOutcome {
  bool finished = true;  // false: stopped in the middle, the results are void
  std::vector<Result> results;
  reference::Proof proof;
  double seconds_subjects = 0, seconds_reference = 0, seconds_checks = 0;
};

// Makes the planned results (all of plan(), or some). `stop` is looked at between blocks.
CaseOutcome run_case(const Case& problem, const std::vector<Planned>& planned, SubjectPool& pool,
                     const std::atomic<bool>& stop);

}  // namespace ropewalk
