// What the stages of a table must look like when somebody else delivers them.
#pragma once

#include <string>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

std::string shape_text(const Shape& shape);  // "[4096, 32]"

// cos and sin in the case's dtype, inv_freq and angle in any floating-point one (most programs keep them wider),
// positions in int64. Throws SubjectError.
void check_dtype(const std::string& stage, const Tensor& tensor, DType dtype);

// Rows first .. first+count-1 of every stage but inv_freq, which has none.
Stages block_of(const Stages& stages, std::int64_t first, std::int64_t count);

}  // namespace ropewalk
