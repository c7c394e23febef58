// Why a stage of a LoRA update is off, where one of the field's own mistakes explains it.
#pragma once

#include <string>

#include "harness/checks/whole_accuracy.hpp"

namespace ropewalk {

// "scaled by alpha = 16, not by alpha/r = 2" if one of the formulas in use explains every element within the limits;
// "24 of 48 columns in another order: 8 has what belongs to 16, ..." for a padded update; otherwise empty.
std::string explain_lora(const std::string& stage, const LookedAt& looked, const Lora& lora);

}  // namespace ropewalk
