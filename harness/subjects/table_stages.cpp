#include "harness/subjects/table_stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace ropewalk {

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void check_dtype(const std::string& stage, const Tensor& tensor, DType dtype) {
  const auto refuse = [&](std::string_view accepted) {
    throw SubjectError(fmt::format("{} is {}; accepted: {}", stage, name_of(tensor.dtype()), accepted));
  };
  if (stage == "positions") {
    if (tensor.dtype() != DType::int64) refuse("int64");
  } else if (stage == "cos" || stage == "sin") {
    if (tensor.dtype() != dtype) refuse(fmt::format("{}, the dtype of the case", name_of(dtype)));
  } else if (!is_floating(tensor.dtype())) {
    refuse("float64, float32, bfloat16, float16");
  }
}

Stages block_of(const Stages& stages, std::int64_t first, std::int64_t count) {
  Stages block;
  for (const auto& [stage, tensor] : stages)
    block.emplace(stage, stage == "inv_freq" ? tensor : tensor.rows(first, count));
  return block;
}

}  // namespace ropewalk
