// Runs the checks of one case of attention or LoRA: every subject makes the whole problem, then the stages are
// compared.
#pragma once

#include "harness/checks/run_case.hpp"

namespace ropewalk {

CaseOutcome run_whole_case(const Case& problem, const std::vector<Planned>& planned, SubjectPool& pool);

}  // namespace ropewalk
