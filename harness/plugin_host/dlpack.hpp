// Between DLPack's description of a tensor and ours.
#pragma once

#include <optional>

#include "harness/adapters/ropewalk_plugin.h"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// Nothing for dtypes that DLPack 1.0 lacks (fp8).
std::optional<DLDataType> dlpack_type(DType dtype);

// What a plug-in delivers, copied row-major. Throws std::invalid_argument that says what is wrong with it; that its
// memory is where it says nobody can check.
Tensor copied(const DLTensor& tensor);

}  // namespace ropewalk
