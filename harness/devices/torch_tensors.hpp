// Between our tensors and LibTorch's. Only for the files of this folder that include ATen.
#pragma once

#include <ATen/ATen.h>

#include <span>
#include <vector>

#include "harness/devices/device.hpp"

namespace ropewalk {

at::ScalarType to_torch(DType dtype);
at::Tensor view(const Tensor& tensor, at::Device device);  // shares the elements where they are on the device
Tensor take(const at::Tensor& result);                     // stays where it is until somebody looks at it

// An operand: a tensor on the device, or a number that LibTorch treats as a Python number.
struct Value {
  at::Tensor tensor;
  double number = 0;
  bool is_tensor = false;
  at::Scalar scalar() const {
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? at::Scalar(whole) : at::Scalar(number);
  }
  std::int64_t whole() const { return static_cast<std::int64_t>(number); }
};
std::vector<Value> values_on(at::Device device, std::span<const Argument> in);

// Operations that move elements or sum products (from Op::same on). Throws Refused for any other.
at::Tensor move_elements(Op op, const std::vector<Value>& in, at::ScalarType dtype, at::Device device);
at::Tensor sum_products(Op op, const std::vector<Value>& in, at::ScalarType dtype);

}  // namespace ropewalk
