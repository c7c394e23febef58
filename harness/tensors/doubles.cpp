// Elements as doubles, and back.
#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "harness/tensors/half.hpp"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {
namespace {

template <class T>
void widen(const Tensor& tensor, std::span<double> out) {
  const auto values = tensor.as<T>();
  std::transform(values.begin(), values.end(), out.begin(), [](T v) { return static_cast<double>(v); });
}

template <class Pattern>
void widen_bits(const Tensor& tensor, std::span<double> out, float (*to_float)(Pattern)) {
  const auto values = tensor.as<Pattern>();
  std::transform(values.begin(), values.end(), out.begin(), [&](Pattern v) { return to_float(v); });
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
      return widen_bits(tensor, out, bfloat16_to_float);
    case DType::float16:
      return widen_bits(tensor, out, float16_to_float);
    case DType::float8_e4m3fn:
      return widen_bits(tensor, out, float8_e4m3fn_to_float);
    case DType::float8_e5m2:
      return widen_bits(tensor, out, float8_e5m2_to_float);
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

}  // namespace ropewalk
