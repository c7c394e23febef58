// Golden LoRA updates of a fused q, k, v projection with its padding: forward, merged and gradients.
#pragma once

#include "harness/golden/golden.hpp"

namespace ropewalk {

// Of a case with a lora block; its inputs are keyed by the case's id and seed.
GoldenFile golden_lora(const Case& problem);

}  // namespace ropewalk
