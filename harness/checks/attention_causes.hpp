// Why a stage of attention is off, where one of the field's own mistakes explains it.
#pragma once

#include <string>

#include "harness/checks/whole_truth.hpp"
#include "harness/report/result.hpp"

namespace ropewalk {

// What the first failing stage of a subject was compared with.
struct FailingAttention {
  const std::string& stage;
  const Case& problem;
  const Stages &inputs, &observed;
  const StageTruth& exact;
};

// "keys seen by each query: 0; 0-1, right are 0-3; 0-4", and beside it what mask that would be; "nearer to the scores
// without the softcap"; "rows that see no key give NaN"; "the queries come back as they were given". Empty if none of
// these is so. The keys that are seen also go into `details`.
std::string explain_attention(const FailingAttention& failing, nlohmann::ordered_json& details);

}  // namespace ropewalk
