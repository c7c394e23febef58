// A dense row-major tensor in host memory, or one that a library holds until it is looked at. Copies of a Tensor share
// their elements.
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

// Elements that a library holds, perhaps strided, perhaps on another device.
class Native {
 public:
  virtual ~Native() = default;
  virtual std::shared_ptr<std::byte> host() const = 0;  // dense and row-major; theirs where they are so already
  virtual bool dense() const = 0;
  virtual const void* memory() const = 0;  // where the elements lie: the same for tensors that share them
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);                                      // zero-filled
  Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> storage);  // none: a tensor without elements (meta)
  Tensor(DType dtype, Shape shape, std::shared_ptr<const Native> native);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return element_count(shape_); }
  bool empty() const { return !storage_ && !native_; }
  const Native* native() const { return native_.get(); }
  bool dense() const { return !native_ || native_->dense(); }
  const void* memory() const { return native_ ? native_->memory() : storage_.get(); }
  std::span<std::byte> bytes() { return {host(), static_cast<std::size_t>(size()) * bytes_of(dtype_)}; }
  std::span<const std::byte> bytes() const { return {host(), static_cast<std::size_t>(size()) * bytes_of(dtype_)}; }
  // T must be the C++ type of the dtype (std::uint16_t for bfloat16 and float16).
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(host()), static_cast<std::size_t>(size())};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(host()), static_cast<std::size_t>(size())};
  }
  // Rows first .. first+count-1 of the leading dimension; shares the storage.
  Tensor rows(std::int64_t first, std::int64_t count) const;
  // The same elements in another shape; shares the storage.
  Tensor reshaped(Shape shape) const;

 private:
  std::byte* host() const;

  DType dtype_ = DType::float32;
  Shape shape_;
  mutable std::shared_ptr<std::byte> storage_;  // of native elements: once they were looked at
  std::shared_ptr<const Native> native_;
};

// Every element as a double: exact for all dtypes but int64 beyond 2^53 and complex64 (refused).
void to_doubles(const Tensor& tensor, std::span<double> out);
std::vector<double> to_doubles(const Tensor& tensor);
// The nearest number of the dtype to each value; float64, float32, bfloat16 and float16 only.
Tensor from_doubles(DType dtype, Shape shape, std::span<const double> values);
Tensor copy_of(const Tensor& tensor);              // dense, with elements of its own
bool same_bits(const Tensor& a, const Tensor& b);  // dtype, shape and every bit

}  // namespace ropewalk
