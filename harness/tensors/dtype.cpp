#include "harness/tensors/dtype.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace ropewalk {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<Entry, 13> kEntries{{{DType::float64, "float64", 8},
                                          {DType::float32, "float32", 4},
                                          {DType::bfloat16, "bfloat16", 2},
                                          {DType::float16, "float16", 2},
                                          {DType::int64, "int64", 8},
                                          {DType::int32, "int32", 4},
                                          {DType::int16, "int16", 2},
                                          {DType::int8, "int8", 1},
                                          {DType::uint8, "uint8", 1},
                                          {DType::boolean, "bool", 1},
                                          {DType::complex64, "complex64", 8},
                                          {DType::float8_e4m3fn, "float8_e4m3fn", 1},
                                          {DType::float8_e5m2, "float8_e5m2", 1}}};

const Entry& entry(DType dtype) { return kEntries.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::string_view name_of(DType dtype) { return entry(dtype).name; }
std::size_t bytes_of(DType dtype) { return entry(dtype).bytes; }

std::optional<DType> dtype_named(std::string_view name) {
  for (const Entry& e : kEntries)
    if (e.name == name) return e.dtype;
  return std::nullopt;
}

bool is_floating(DType dtype) { return dtype <= DType::float16; }

reference::Format format_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return reference::Format::float64;
    case DType::float32:
      return reference::Format::float32;
    case DType::bfloat16:
      return reference::Format::bfloat16;
    case DType::float16:
      return reference::Format::float16;
    default:
      throw std::invalid_argument(std::string(name_of(dtype)) + " is not a floating-point dtype");
  }
}

}  // namespace ropewalk
