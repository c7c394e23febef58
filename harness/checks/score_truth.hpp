// Exact scores, probabilities, outputs and gradients of attention, from rotated queries and keys.
#pragma once

#include "harness/cases/exact_attention.hpp"
#include "harness/checks/whole_truth.hpp"

namespace ropewalk {

bool is_score_stage(const std::string& stage);  // scores, probabilities, output

// From the exact rotated queries [batch, queries, heads, head_dim] and keys (at all heads).
StageTruth scores_total(const std::string& stage, const Case& problem, const StageTruth& rotated_q,
                        const StageTruth& rotated_k, const ScoreInputs& inputs);

// From the stage before as it was observed, else from observed rotated queries and keys; nothing if there are none.
std::optional<StageTruth> scores_local(const std::string& stage, const Case& problem, const Stages& observed,
                                       const ScoreInputs& inputs);

// Of sum(grad_output * output): by the rotated queries and keys and by the values, all at all heads.
struct AttentionGradients {
  reference::Enclosures q, k, v;
};
AttentionGradients gradients_total(const Case& problem, const StageTruth& rotated_q, const StageTruth& rotated_k,
                                   const ScoreInputs& inputs);
// Of observed rotated queries and keys, nothing without them; and of observed scores, or for grad_v of observed
// probabilities, where these are there: what the backward pass starts from.
std::optional<AttentionGradients> gradients_local(const std::string& stage, const Case& problem, const Stages& observed,
                                                  const ScoreInputs& inputs);

}  // namespace ropewalk
