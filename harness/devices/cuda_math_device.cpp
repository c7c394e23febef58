// LibTorch's CUDA kernels on the host: their fp32 arithmetic around cuda_math's sin, cos and pow. What is not modelled
// is refused with the reason.
#include <array>
#include <atomic>
#include <cmath>

#include "harness/devices/cuda_math/cuda_math.hpp"
#include "harness/devices/makers.hpp"
#include "harness/devices/torch_ops.hpp"
#include "harness/tensors/half.hpp"

namespace ropewalk {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Refused("cuda-math does not model " + what); }

// fp32 is the arithmetic of float32, bfloat16 and float16 kernels; int64 takes part as an operand that is converted.
std::vector<float> widen(const Tensor& tensor) {
  std::vector<float> out(static_cast<std::size_t>(tensor.size()));
  switch (tensor.dtype()) {
    case DType::float32: {
      const auto values = tensor.as<float>();
      out.assign(values.begin(), values.end());
      break;
    }
    case DType::bfloat16: {
      const auto bits = tensor.as<std::uint16_t>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = bfloat16_to_float(bits[i]);
      break;
    }
    case DType::float16: {
      const auto bits = tensor.as<std::uint16_t>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = float16_to_float(bits[i]);
      break;
    }
    case DType::int64: {
      const auto values = tensor.as<std::int64_t>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(values[i]);
      break;
    }
    default:
      refuse("arithmetic in " + std::string(name_of(tensor.dtype())));
  }
  return out;
}

Tensor narrow(std::span<const float> values, const Shape& shape, DType dtype) {
  Tensor out(dtype, shape);
  switch (dtype) {
    case DType::float32:
      std::copy(values.begin(), values.end(), out.as<float>().begin());
      break;
    case DType::float64:
      std::copy(values.begin(), values.end(), out.as<double>().begin());
      break;
    case DType::bfloat16: {
      auto bits = out.as<std::uint16_t>();
      for (std::size_t i = 0; i < values.size(); ++i) bits[i] = float_to_bfloat16(values[i]);
      break;
    }
    case DType::float16: {
      auto bits = out.as<std::uint16_t>();
      for (std::size_t i = 0; i < values.size(); ++i) bits[i] = float_to_float16(values[i]);
      break;
    }
    default:
      refuse("a result of dtype " + std::string(name_of(dtype)));
  }
  return out;
}

// IEEE conversions and arithmetic on numbers that fp32 holds exactly need no model: they round once everywhere.
Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (x.dtype() == DType::float64) {
    if (dtype != DType::float32) refuse("a cast from float64 to " + std::string(name_of(dtype)));
    Tensor out(dtype, x.shape());
    const auto from = x.as<double>();
    for (std::size_t i = 0; i < from.size(); ++i) out.as<float>()[i] = static_cast<float>(from[i]);
    return out;
  }
  if (x.dtype() == DType::int64 && dtype == DType::float64) {
    Tensor out(dtype, x.shape());
    to_doubles(x, out.as<double>());
    return out;
  }
  return narrow(widen(x), x.shape(), dtype);
}

// LibTorch's type promotion for two tensors of at least one dimension.
DType promote(DType a, DType b) {
  if (a == b) return a;
  if (!is_floating(a)) return b;
  if (!is_floating(b)) return a;
  if (a == DType::float64 || b == DType::float64) return DType::float64;
  return DType::float32;  // bfloat16 with float16 as well
}

struct Broadcast {
  Shape shape;
  std::int64_t rows, columns;
};

// Shapes met in a table: equal, or [rows, 1] with [columns].
Broadcast broadcast(const Tensor& x, const Tensor& y) {
  if (x.shape() == y.shape()) return {x.shape(), 1, x.size()};
  if (x.shape().size() == 2 && x.shape()[1] == 1 && y.shape().size() == 1)
    return {{x.shape()[0], y.shape()[0]}, x.shape()[0], y.shape()[0]};
  refuse("this broadcast of two tensors");
}

// One IEEE operation in fp32, and one rounding to the dtype: LibTorch's CPU gives the same bits for any broadcast.
bool simple(const Tensor& x, const Tensor& y) {
  return !x.shape().empty() && !y.shape().empty() && x.shape().size() <= 2 && y.shape().size() <= 2;
}

template <class F>
Tensor elementwise(const Tensor& x, const Tensor& y, F f) {
  const DType dtype = promote(x.dtype(), y.dtype());
  const bool swapped = y.shape().size() > x.shape().size();
  const Broadcast b = swapped ? broadcast(y, x) : broadcast(x, y);
  const bool outer = b.rows > 1 || x.shape() != y.shape();
  if (dtype == DType::float64) {  // a single IEEE operation: the same on every device
    Tensor out(dtype, b.shape);
    const auto xs = to_doubles(x);
    const auto ys = to_doubles(y);
    auto to = out.as<double>();
    for (std::int64_t r = 0; r < b.rows; ++r)
      for (std::int64_t c = 0; c < b.columns; ++c)
        to[r * b.columns + c] = f(xs[outer ? (swapped ? c : r) : c], ys[outer ? (swapped ? r : c) : c]);
    return out;
  }
  const auto xs = widen(x);
  const auto ys = widen(y);
  std::vector<float> to(static_cast<std::size_t>(b.rows * b.columns));
  for (std::int64_t r = 0; r < b.rows; ++r)
    for (std::int64_t c = 0; c < b.columns; ++c)
      to[r * b.columns + c] = f(xs[outer ? (swapped ? c : r) : c], ys[outer ? (swapped ? r : c) : c]);
  return narrow(to, b.shape, dtype);
}

DType result_with_number(DType dtype) { return is_floating(dtype) ? dtype : DType::float32; }

template <class F>
Tensor map(const Tensor& x, F f) {
  const DType dtype = result_with_number(x.dtype());
  if (dtype == DType::float64) {
    Tensor out(dtype, x.shape());
    const auto from = x.as<double>();
    auto to = out.as<double>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(from[i]);
    return out;
  }
  auto values = widen(x);
  for (float& v : values) v = f(v);
  return narrow(values, x.shape(), dtype);
}

class CudaMath final : public Device {
 public:
  std::string name() const override { return "cuda-math"; }
  std::string missing() const override { return {}; }
  bool emulated() const override { return true; }
  std::string versions() const override {
    return "model of CUDA 12.1 to 13.0's sinf, cosf and powf (docs/cuda_math.md)";
  }
  DocumentedBounds bounds() const override { return cuda_documented_bounds(); }
  std::int64_t undetermined() const override { return undetermined_; }

  Tensor apply(Op op, std::span<const Argument> in, DType dtype) override {
    if (op == Op::arange) return arange(in, dtype);
    if (op == Op::fma) return torch_apply(TorchDevice::cpu, op, in, dtype);  // one rounding, the same everywhere
    if (sums_products(op)) refuse("the order in which CUDA sums products");
    if (moves_elements(op)) return torch_apply(TorchDevice::cpu, op, in, dtype);  // moves bits, computes nothing
    // Choices and bounds move numbers and compute nothing.
    if (op == Op::scalar || op == Op::clamp || op == Op::select_less)
      return torch_apply(TorchDevice::cpu, op, in, dtype);
    const auto* x = std::get_if<Tensor>(&in[0]);
    if (in.size() == 2) {
      const auto* y = std::get_if<Tensor>(&in[1]);
      if (x && y) return binary(op, *x, *y);
      if (x) return with_number(op, *x, std::get<double>(in[1]));
      return from_number(op, std::get<double>(in[0]), *y);
    }
    return unary(op, *x, dtype);
  }

 private:
  static Tensor arange(std::span<const Argument> in, DType dtype) {
    const double start = std::get<double>(in[0]), end = std::get<double>(in[1]), step = std::get<double>(in[2]);
    const auto count = static_cast<std::int64_t>(std::ceil((end - start) / step));
    Tensor whole(DType::int64, {count});
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = start + step * static_cast<double>(i);
      if (value != std::floor(value) || std::fabs(value) > 0x1p24) refuse("an arange of fractions or beyond 2^24");
      whole.as<std::int64_t>()[i] = static_cast<std::int64_t>(value);
    }
    return cast(whole, dtype);
  }

  Tensor binary(Op op, const Tensor& x, const Tensor& y) {
    if (!is_floating(x.dtype()) && !is_floating(y.dtype())) refuse("arithmetic of two integer tensors");
    if (op == Op::power && x.shape().empty() && x.dtype() == DType::float32) return raised(x.as<float>()[0], y);
    if (!simple(x, y) && op != Op::power)
      return torch_apply(TorchDevice::cpu, op, std::vector<Argument>{x, y}, x.dtype());
    switch (op) {
      case Op::multiply:
        return elementwise(x, y, [](auto a, auto b) { return a * b; });
      case Op::divide:
        return elementwise(x, y, [](auto a, auto b) { return a / b; });
      case Op::add:
        return elementwise(x, y, [](auto a, auto b) { return a + b; });
      case Op::subtract:
        return elementwise(x, y, [](auto a, auto b) { return a - b; });
      default:
        refuse("a power of two tensors");
    }
  }

  // number ^ tensor: the number is a scalar of the tensor's type, to which a half-precision kernel rounds it first.
  Tensor raised(double number, const Tensor& y) {
    if (y.dtype() == DType::float64) refuse("pow in float64");
    if (number == 1) return map(y, [](auto b) { return decltype(b)(1); });
    auto values = widen(y);
    const auto base = widen(narrow(std::array{static_cast<float>(number)}, {1}, result_with_number(y.dtype())))[0];
    undetermined_ += static_cast<std::int64_t>(cuda_math::pow(base, values, values));
    return narrow(values, y.shape(), result_with_number(y.dtype()));
  }

  // tensor ^ number: powf, but for the exponents that have kernels of their own.
  Tensor to_the(const Tensor& x, double number) {
    if (x.dtype() != DType::float32) refuse("a power of a tensor that is not float32");
    for (const double special : {0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0})
      if (number == special) refuse("a tensor to one of the powers 0, 1/2, 1, 2, 3 and their negatives");
    Tensor out(DType::float32, x.shape());
    const auto from = x.as<float>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::array exponent{static_cast<float>(number)};
      undetermined_ += static_cast<std::int64_t>(cuda_math::pow(from[i], exponent, out.as<float>().subspan(i, 1)));
    }
    return out;
  }

  // The number is rounded to the arithmetic's type; a division multiplies by its reciprocal.
  Tensor with_number(Op op, const Tensor& x, double number) {
    switch (op) {
      case Op::multiply:
        return map(x, [&](auto a) { return a * static_cast<decltype(a)>(number); });
      case Op::divide:
        return map(x, [&](auto a) { return a * (decltype(a)(1) / static_cast<decltype(a)>(number)); });
      case Op::add:
        return map(x, [&](auto a) { return a + static_cast<decltype(a)>(number); });
      case Op::subtract:
        return map(x, [&](auto a) { return a - static_cast<decltype(a)>(number); });
      case Op::power:
        return to_the(x, number);
      default:
        refuse("this operation of a tensor and a number");
    }
  }

  Tensor from_number(Op op, double number, const Tensor& y) {
    switch (op) {
      case Op::multiply:
      case Op::add:
        return with_number(op, y, number);
      case Op::subtract:
        return map(y, [&](auto b) { return static_cast<decltype(b)>(number) - b; });
      case Op::divide:
        return map(y, [&](auto b) { return (decltype(b)(1) / b) * static_cast<decltype(b)>(number); });
      case Op::power:
        return raised(number, y);
      default:
        refuse("this operation of a number and a tensor");
    }
  }

  Tensor trigonometric(const Tensor& x, void (*function)(std::span<const float>, std::span<float>)) {
    if (x.dtype() == DType::float64) refuse("CUDA's sin and cos in float64");
    auto values = widen(x);
    function(values, values);
    return narrow(values, x.shape(), result_with_number(x.dtype()));
  }

  Tensor unary(Op op, const Tensor& x, DType dtype) {
    switch (op) {
      case Op::positions:
      case Op::cast:
        return cast(x, dtype);
      case Op::negate:
        return map(x, [](auto a) { return -a; });
      case Op::reciprocal:
        return map(x, [](auto a) { return decltype(a)(1) / a; });
      case Op::floor:
        return map(x, [](auto a) { return std::floor(a); });
      case Op::cos:
        return trigonometric(x, cuda_math::cos);
      case Op::sin:
        return trigonometric(x, cuda_math::sin);
      case Op::polar:
        return polar(x);
      case Op::real:
        return part(x, 0);
      case Op::imag:
        return part(x, 1);
      case Op::cos_pi:
      case Op::sin_pi:
        refuse("CUDA's cospif and sinpif");
      case Op::cos_fast:
      case Op::sin_fast:
        refuse("the hardware's approximations sin.approx and cos.approx");
      default:
        refuse("CUDA's exp, log and exp2");
    }
  }

  static Tensor polar(const Tensor& x) {  // 1 * cos and 1 * sin are exact
    if (x.dtype() != DType::float32) refuse("polar in " + std::string(name_of(x.dtype())));
    Tensor out(DType::complex64, x.shape());
    std::vector<float> cosine(static_cast<std::size_t>(x.size())), sine(cosine.size());
    cuda_math::cos(x.as<float>(), cosine);
    cuda_math::sin(x.as<float>(), sine);
    auto* to = reinterpret_cast<float*>(out.bytes().data());
    for (std::size_t i = 0; i < cosine.size(); ++i) to[2 * i] = cosine[i], to[2 * i + 1] = sine[i];
    return out;
  }

  static Tensor part(const Tensor& x, std::size_t offset) {
    if (x.dtype() != DType::complex64) refuse("real and imag of a real tensor");
    Tensor out(DType::float32, x.shape());
    const auto* from = reinterpret_cast<const float*>(x.bytes().data());
    auto to = out.as<float>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[2 * i + offset];
    return out;
  }

  std::atomic<std::int64_t> undetermined_{0};
};

}  // namespace

std::shared_ptr<Device> make_cuda_math() { return std::make_shared<CudaMath>(); }

}  // namespace ropewalk
