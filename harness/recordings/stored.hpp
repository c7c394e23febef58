// How a recorded tensor lies in its file; only for this folder.
#pragma once

#include <string>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

inline std::string index_name(const std::string& tensor) { return tensor + "#index"; }
inline std::string bits_name(const std::string& tensor) { return tensor + "#bits"; }
inline std::string tensor_name(const std::string& recipe, bool module_cast, const std::string& stage) {
  return recipe + (module_cast ? "+module_cast" : "") + "/" + stage;
}

// An integer type as wide as the dtype.
inline DType bits_dtype(DType dtype) {
  switch (bytes_of(dtype)) {
    case 8:
      return DType::int64;
    case 4:
      return DType::int32;
    case 2:
      return DType::int16;
    default:
      return DType::uint8;
  }
}

}  // namespace ropewalk
