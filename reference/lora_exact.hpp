// Single elements of a LoRA update without any error: what decides where an enclosure does not. docs/numerics.md, 4.3.
#pragma once

#include "reference/lora_scale.hpp"

namespace ropewalk::reference {

// Element `index` of the stage. Slow: a microsecond for each ten terms.
ExactRounding round_exactly(Format format, LoraStage stage, const LoraProblem& problem, std::size_t index);

}  // namespace ropewalk::reference
