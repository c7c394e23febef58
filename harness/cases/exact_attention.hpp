// A case's rotation and attention as the reference takes them.
#pragma once

#include <string>

#include "harness/cases/case.hpp"
#include "harness/tensors/tensor.hpp"
#include "reference/attention.hpp"
#include "reference/rotation.hpp"

namespace ropewalk {

// One sequence of the batch; keys and values at the case's kv_heads. Masks, padding, ALiBi and sinks are the
// inputs', and not in it.
reference::Attention exact_attention(const Case& problem);
reference::Rotation exact_rotation(const Case& problem);

}  // namespace ropewalk
