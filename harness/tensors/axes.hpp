// Slices and concatenation of dense host tensors along one axis.
#pragma once

#include <vector>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

Tensor slice_along(const Tensor& x, std::size_t axis, std::int64_t first, std::int64_t count);
Tensor concat_along(const std::vector<Tensor>& parts, std::size_t axis);  // at least one; of one dtype

}  // namespace ropewalk
