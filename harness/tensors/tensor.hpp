// A dense row-major tensor in host memory. The storage may belong to a library; copies of a Tensor share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/tensors/dtype.hpp"

namespace ropewalk {

using Shape = std::vector<std::int64_t>;
std::int64_t element_count(const Shape& shape);

class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);  // zero-filled
  Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> storage);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return element_count(shape_); }
  bool empty() const { return !storage_; }
  std::span<std::byte> bytes() { return {storage_.get(), static_cast<std::size_t>(size()) * bytes_of(dtype_)}; }
  std::span<const std::byte> bytes() const {
    return {storage_.get(), static_cast<std::size_t>(size()) * bytes_of(dtype_)};
  }
  // T must be the C++ type of the dtype (std::uint16_t for bfloat16 and float16).
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(storage_.get()), static_cast<std::size_t>(size())};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(storage_.get()), static_cast<std::size_t>(size())};
  }
  // Rows first .. first+count-1 of the leading dimension; shares the storage.
  Tensor rows(std::int64_t first, std::int64_t count) const;
  // The same elements in another shape; shares the storage.
  Tensor reshaped(Shape shape) const;

 private:
  DType dtype_ = DType::float32;
  Shape shape_;
  std::shared_ptr<std::byte> storage_;
};

// Every element as a double: exact for all dtypes but int64 beyond 2^53 and complex64 (refused).
void to_doubles(const Tensor& tensor, std::span<double> out);
std::vector<double> to_doubles(const Tensor& tensor);
bool same_bits(const Tensor& a, const Tensor& b);  // dtype, shape and every bit

}  // namespace ropewalk
