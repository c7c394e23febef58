// What must hold of a LoRA update whatever the reference says.
#pragma once

#include "harness/checks/running.hpp"
#include "harness/checks/whole_truth.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

// Of one stage: a real tensor of the right dtype without NaN, the same bits when it is made again (`again`), inputs
// left as they were; indices in range and each one once; padded columns zero. What cycles of merging and unmerging do
// to the weight is told, not judged.
void judge_lora_invariants(const Case& problem, const Whole& whole, const Whole& again, const Stages& inputs,
                           const StageTruth& exact, Result& result);

}  // namespace ropewalk
