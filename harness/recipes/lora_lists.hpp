// Lists of rows of the fused projection that the LoRA update reaches, as projects make them on the host.
#pragma once

#include <span>

#include "harness/cases/problem.hpp"
#include "harness/devices/device.hpp"

namespace ropewalk {

bool is_lora_list(Op op);  // lora_rows, segment_rows, group_rows, enabled_mask
Tensor lora_list(Op op, std::span<const Argument> in, const Lora& lora);  // int64, or bool for a mask; throws Refused

}  // namespace ropewalk
