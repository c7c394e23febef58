#include "harness/plugin_host/dlpack.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/tensors/file_bytes.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::pair<DType, DLDataType>, 11> kTypes{{{DType::float64, {kDLFloat, 64, 1}},
                                                               {DType::float32, {kDLFloat, 32, 1}},
                                                               {DType::bfloat16, {kDLBfloat, 16, 1}},
                                                               {DType::float16, {kDLFloat, 16, 1}},
                                                               {DType::int64, {kDLInt, 64, 1}},
                                                               {DType::int32, {kDLInt, 32, 1}},
                                                               {DType::int16, {kDLInt, 16, 1}},
                                                               {DType::int8, {kDLInt, 8, 1}},
                                                               {DType::uint8, {kDLUInt, 8, 1}},
                                                               {DType::boolean, {kDLBool, 8, 1}},
                                                               {DType::complex64, {kDLComplex, 64, 1}}}};

DType dtype_of(const DLDataType& type) {
  for (const auto& [dtype, known] : kTypes)
    if (type.code == known.code && type.bits == known.bits && type.lanes == known.lanes) return dtype;
  throw std::invalid_argument("dtype with code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
                              " bits, " + std::to_string(type.lanes) +
                              " lanes; accepted: real, integer, bool, bfloat "
                              "and complex64 in one lane");
}

}  // namespace

std::optional<DLDataType> dlpack_type(DType dtype) {
  for (const auto& [known, type] : kTypes)
    if (known == dtype) return type;
  return std::nullopt;
}

Tensor copied(const DLTensor& tensor) {
  constexpr int kMostAxes = 16;
  if (tensor.device.device_type != kDLCPU)
    throw std::invalid_argument("on device type " + std::to_string(tensor.device.device_type) +
                                "; accepted: 1, the CPU");
  if (tensor.ndim < 0 || tensor.ndim > kMostAxes)
    throw std::invalid_argument(std::to_string(tensor.ndim) + " axes; accepted: 0 to 16");
  if (tensor.ndim > 0 && tensor.shape == nullptr) throw std::invalid_argument("no shape");
  const DType dtype = dtype_of(tensor.dtype);
  const Shape shape(tensor.shape, tensor.shape + tensor.ndim);
  const auto bytes = checked_bytes(dtype, shape);
  if (!bytes) throw std::invalid_argument("a negative size, or more than 63 bits of bytes");
  if (*bytes == 0) return {dtype, shape};
  if (tensor.data == nullptr) throw std::invalid_argument("no data");
  Shape strides(shape.size(), 1);
  if (tensor.strides != nullptr) {
    strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  } else {
    for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  }
  return strided_copy(static_cast<const std::byte*>(tensor.data) + tensor.byte_offset, dtype, shape, strides);
}

}  // namespace ropewalk
