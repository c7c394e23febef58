#include "harness/tensors/tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "harness/tensors/half.hpp"

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

namespace {

template <class T>
void widen(const Tensor& tensor, std::span<double> out) {
  const auto values = tensor.as<T>();
  std::transform(values.begin(), values.end(), out.begin(), [](T v) { return static_cast<double>(v); });
}

void widen_half(const Tensor& tensor, std::span<double> out, float (*to_float)(std::uint16_t)) {
  const auto values = tensor.as<std::uint16_t>();
  std::transform(values.begin(), values.end(), out.begin(), [&](std::uint16_t v) { return to_float(v); });
}

// Rounding to odd keeps what a second rounding needs to know (Boldo and Melquiond 2008).
float to_odd(double value) {
  auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value || std::isnan(value) || std::isinf(narrow)) return narrow;
  if (std::fabs(narrow) > std::fabs(value)) narrow = std::nextafter(narrow, 0.0F);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(narrow) | 1U);
}

}  // namespace

void to_doubles(const Tensor& tensor, std::span<double> out) {
  if (static_cast<std::int64_t>(out.size()) != tensor.size()) throw std::invalid_argument("to_doubles: size");
  switch (tensor.dtype()) {
    case DType::float64:
      return widen<double>(tensor, out);
    case DType::float32:
      return widen<float>(tensor, out);
    case DType::int64:
      return widen<std::int64_t>(tensor, out);
    case DType::int32:
      return widen<std::int32_t>(tensor, out);
    case DType::int16:
      return widen<std::int16_t>(tensor, out);
    case DType::int8:
      return widen<std::int8_t>(tensor, out);
    case DType::uint8:
    case DType::boolean:
      return widen<std::uint8_t>(tensor, out);
    case DType::bfloat16:
      return widen_half(tensor, out, bfloat16_to_float);
    case DType::float16:
      return widen_half(tensor, out, float16_to_float);
    case DType::complex64:
      break;
  }
  throw std::invalid_argument("a complex tensor has no real elements");
}

std::vector<double> to_doubles(const Tensor& tensor) {
  std::vector<double> out(static_cast<std::size_t>(tensor.size()));
  to_doubles(tensor, out);
  return out;
}

Tensor from_doubles(DType dtype, Shape shape, std::span<const double> values) {
  Tensor out(dtype, std::move(shape));
  if (static_cast<std::int64_t>(values.size()) != out.size()) throw std::invalid_argument("from_doubles: size");
  if (dtype == DType::float64) {
    std::copy(values.begin(), values.end(), out.as<double>().begin());
  } else if (dtype == DType::float32) {
    std::transform(values.begin(), values.end(), out.as<float>().begin(),
                   [](double v) { return static_cast<float>(v); });
  } else if (dtype == DType::bfloat16 || dtype == DType::float16) {
    const auto narrow = dtype == DType::bfloat16 ? float_to_bfloat16 : float_to_float16;
    std::transform(values.begin(), values.end(), out.as<std::uint16_t>().begin(),
                   [&](double v) { return narrow(to_odd(v)); });
  } else {
    throw std::invalid_argument("from_doubles: a floating-point dtype is needed");
  }
  return out;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

}  // namespace ropewalk
