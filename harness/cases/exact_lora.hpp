// A case's LoRA update as the reference takes it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/cases/problem.hpp"
#include "harness/tensors/tensor.hpp"
#include "reference/lora.hpp"

namespace ropewalk {

// `inputs`: the tensors of make_inputs as doubles; they are looked at, not copied, so they must outlive the problem.
reference::LoraProblem exact_lora(const Lora& lora, const std::map<std::string, std::vector<double>>& inputs);

reference::LoraStage lora_stage(const std::string& stage);     // of a stage of real numbers, lora_delta and on
Shape lora_shape(const Lora& lora, const std::string& stage);  // of any stage

}  // namespace ropewalk
