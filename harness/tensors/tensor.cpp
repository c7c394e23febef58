#include "harness/tensors/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace ropewalk {

std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto count = static_cast<std::size_t>(size()) * bytes_of(dtype_);
  auto* memory = static_cast<std::byte*>(::operator new (std::max<std::size_t>(count, 1), std::align_val_t{64}));
  storage_ = std::shared_ptr<std::byte>(memory, [](std::byte* p) { ::operator delete (p, std::align_val_t{64}); });
  std::memset(memory, 0, count);
}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<std::byte> storage)
    : dtype_(dtype), shape_(std::move(shape)), storage_(std::move(storage)) {}

Tensor::Tensor(DType dtype, Shape shape, std::shared_ptr<const Native> native)
    : dtype_(dtype), shape_(std::move(shape)), native_(std::move(native)) {}

std::byte* Tensor::host() const {
  if (!storage_ && native_) storage_ = native_->host();
  return storage_.get();
}

Tensor Tensor::rows(std::int64_t first, std::int64_t count) const {
  if (shape_.empty() || first < 0 || count < 0 || first + count > shape_[0])
    throw std::out_of_range("rows of a tensor");
  Shape shape = shape_;
  shape[0] = count;
  const std::int64_t row_size = shape_[0] == 0 ? 0 : size() / shape_[0];
  std::byte* start = host() + first * row_size * static_cast<std::int64_t>(bytes_of(dtype_));
  return {dtype_, std::move(shape), std::shared_ptr<std::byte>(storage_, start)};
}

Tensor Tensor::reshaped(Shape shape) const {
  if (element_count(shape) != size()) throw std::invalid_argument("reshape of a tensor");
  host();
  return {dtype_, std::move(shape), storage_};
}

Tensor copy_of(const Tensor& tensor) {
  Tensor copy(tensor.dtype(), tensor.shape());
  std::copy(tensor.bytes().begin(), tensor.bytes().end(), copy.bytes().begin());
  return copy;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

}  // namespace ropewalk
