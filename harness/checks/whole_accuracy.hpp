// Accuracy, identity and equivalence of one stage of a whole problem, element by element.
#pragma once

#include "harness/checks/running.hpp"
#include "harness/checks/whole_truth.hpp"
#include "harness/report/result.hpp"

namespace ropewalk {

struct LookedAt {
  Tensor tensor;
  StageTruth local;
  const StageTruth* total = nullptr;
  WholeLimits limits;
};

// Verdict, numbers, limits and the deciding element. Throws SubjectError for another shape than the stage has, or
// another dtype than the claimed recipe gives it: mostly the case's, `dtype`, but a table may promote what it turns.
void judge_accuracy(const LookedAt& stage, DType dtype, const std::optional<UserLimit>& user, Result& result);
bool local_failed(const LookedAt& stage);

// Of two subjects; `limits` of both where only equivalence is claimed, none for identity.
void judge_two(const Tensor& a, const Tensor& b, const StageTruth& exact, const std::vector<WholeLimits>& limits,
               Result& result);

// Indices by number: "missing {8, 9}, extra {4, 5}", "4 rows in another order"; empty if they are the exact ones.
std::string index_difference(const Tensor& index, const StageTruth& exact);

}  // namespace ropewalk
