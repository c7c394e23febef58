// Element types of tensors, named as PyTorch names them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "reference/format.hpp"

namespace ropewalk {

enum class DType {
  float64,
  float32,
  bfloat16,
  float16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  complex64,
  float8_e4m3fn,  // these two are read from files and widened, nothing is computed in them
  float8_e5m2
};

std::string_view name_of(DType dtype);                    // "float32", "bool", ...
std::optional<DType> dtype_named(std::string_view name);  // nothing for an unknown name
std::size_t bytes_of(DType dtype);
bool is_floating(DType dtype);             // float64, float32, bfloat16, float16
reference::Format format_of(DType dtype);  // throws std::invalid_argument unless is_floating

}  // namespace ropewalk
