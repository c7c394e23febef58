// Golden LoRA updates of a fused q, k, v projection with its padding: forward, merged and gradients.
#pragma once

#include "harness/golden/golden.hpp"

namespace ropewalk {

// Of a case with a lora block; its inputs are keyed by the case's id and seed.
GoldenFile golden_lora(const Case& problem);
// The parameters of such a file as a case again; throws BadInput.
Case read_lora_parameters(const Field& parameters, const std::string& case_id);

}  // namespace ropewalk
