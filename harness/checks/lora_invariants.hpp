// What must hold of a LoRA update whatever the reference says.
#pragma once

#include "harness/checks/running.hpp"
#include "harness/checks/whole_truth.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

// Of one stage: a real tensor of the right dtype without NaN, the same bits when it is made again (`again`), inputs
// left as they were; every tensor of the module off the meta device; indices in range and each one once; the merged
// weight (within `limits`) gives the exact `output`; padded columns zero. What cycles of merging and unmerging do to
// the weight is told, not judged.
void judge_lora_invariants(const Case& problem, const Whole& whole, const Whole& again, const Stages& inputs,
                           const StageTruth& exact, const std::vector<double>& limits, const StageTruth& output,
                           Result& result);

}  // namespace ropewalk
