// Exact scores, probabilities and outputs of attention, from rotated queries and keys.
#pragma once

#include "harness/checks/whole_truth.hpp"

namespace ropewalk {

bool is_score_stage(const std::string& stage);  // scores, probabilities, output

// From the exact rotated queries and keys (both [batch, seq, heads, head_dim]) and the values that the case gives.
StageTruth scores_total(const std::string& stage, const Case& problem, const StageTruth& rotated_q,
                        const StageTruth& rotated_k, const std::vector<double>& values);

// From the stage before as it was observed, else from observed rotated queries and keys; nothing if there are none.
std::optional<StageTruth> scores_local(const std::string& stage, const Case& problem, const Stages& observed,
                                       const std::vector<double>& values);

}  // namespace ropewalk
