// What the stages of a table must look like when somebody else delivers them.
#pragma once

#include <array>
#include <string>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

inline constexpr std::array<const char*, 5> kDeliverable{"positions", "inv_freq", "angle", "cos", "sin"};

std::string shape_text(const Shape& shape);  // "[4096, 32]"

// cos and sin in the case's dtype, inv_freq and angle in any floating-point one (most programs keep them wider),
// positions in int64. Throws SubjectError.
void check_dtype(const std::string& stage, const Tensor& tensor, DType dtype);

// Rows first .. first+count-1 of every stage but inv_freq, which has none.
Stages block_of(const Stages& stages, std::int64_t first, std::int64_t count);

}  // namespace ropewalk
