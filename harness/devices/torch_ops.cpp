#include "harness/devices/torch_ops.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/headeronly/version.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "harness/devices/torch_tensors.hpp"

namespace ropewalk {
namespace {

at::Tensor binary(Op op, const Value& x, const Value& y) {
  const bool both = x.is_tensor && y.is_tensor;
  switch (op) {
    case Op::multiply:
      return both ? x.tensor * y.tensor : x.is_tensor ? x.tensor * y.scalar() : y.tensor * x.scalar();
    case Op::add:
      return both ? x.tensor + y.tensor : x.is_tensor ? x.tensor + y.scalar() : y.tensor + x.scalar();
    case Op::subtract:
      return both ? x.tensor - y.tensor : x.is_tensor ? x.tensor - y.scalar() : at::rsub(y.tensor, x.scalar());
    // Python's number / tensor is reciprocal(tensor) * number.
    case Op::divide:
      return both ? x.tensor / y.tensor : x.is_tensor ? x.tensor / y.scalar() : y.tensor.reciprocal() * x.scalar();
    case Op::power:
      return both          ? at::pow(x.tensor, y.tensor)
             : x.is_tensor ? at::pow(x.tensor, y.scalar())
                           : at::pow(x.scalar(), y.tensor);
    default:
      throw Refused("not an operation of two operands");
  }
}

at::Tensor unary(Op op, const at::Tensor& x, at::ScalarType dtype) {
  switch (op) {
    case Op::positions:
    case Op::cast:
      return x.to(dtype);
    case Op::negate:
      return -x;
    case Op::reciprocal:
      return x.reciprocal();
    case Op::exp:
      return x.exp();
    case Op::log:
      return x.log();
    case Op::exp2:
      return x.exp2();
    case Op::tanh:
      return x.tanh();
    case Op::floor:
      return x.floor();
    case Op::cos:
      return x.cos();
    case Op::sin:
      return x.sin();
    case Op::polar:
      return at::polar(at::ones_like(x), x);
    case Op::real:
    case Op::imag:
      if (!x.is_complex()) throw Refused("real and imag of a real tensor");
      return op == Op::real ? at::real(x) : at::imag(x);
    case Op::cos_pi:
    case Op::sin_pi:
    case Op::cos_fast:
    case Op::sin_fast:
      throw Refused("LibTorch has no sinpif, and no approximations of sine and cosine");
    default:
      throw Refused("not an operation of one operand");
  }
}

// Rounded once, by the standard library's fma: a plain product and sum of wider numbers would round twice.
at::Tensor fused(const std::vector<Value>& in) {
  const auto all = at::broadcast_tensors({in.at(0).tensor, in.at(1).tensor, in.at(2).tensor});
  const at::Tensor x = all[0].contiguous(), y = all[1].contiguous(), z = all[2].contiguous();
  if (!x.is_cpu()) throw Refused("fma: only on the CPU; on a GPU it is a kernel's own choice");
  const at::Tensor out = at::empty_like(x);
  const auto each = [&](auto zero) {
    using Number = decltype(zero);
    for (std::int64_t i = 0; i < out.numel(); ++i)
      out.data_ptr<Number>()[i] = std::fma(x.data_ptr<Number>()[i], y.data_ptr<Number>()[i], z.data_ptr<Number>()[i]);
  };
  if (x.scalar_type() != y.scalar_type() || x.scalar_type() != z.scalar_type() ||
      (x.scalar_type() != at::kFloat && x.scalar_type() != at::kDouble))
    throw Refused("fma: of float32 or float64 alone");
  x.scalar_type() == at::kFloat ? each(0.0F) : each(0.0);
  return out;
}

at::Tensor mask_outside(const std::vector<Value>& in, at::ScalarType dtype) {
  const at::Tensor& x = in.at(0).tensor;
  const at::Tensor outside = (x < in.at(1).scalar()).logical_or(x > in.at(2).scalar());
  return at::zeros(x.sizes(), x.options().dtype(dtype)).masked_fill(outside, -std::numeric_limits<double>::infinity());
}

// Where x < y, a, else b. A number takes the tensor's dtype.
at::Tensor select_less(const Value& x, const Value& y, const Value& a, const Value& b) {
  if (!x.is_tensor && !y.is_tensor) throw Refused("select_less compares at least one tensor");
  const at::Tensor less = x.is_tensor && y.is_tensor ? at::lt(x.tensor, y.tensor)
                          : x.is_tensor              ? at::lt(x.tensor, y.scalar())
                                                     : at::gt(y.tensor, x.scalar());
  if (a.is_tensor && b.is_tensor) return at::where(less, a.tensor, b.tensor);
  if (a.is_tensor) return at::where(less, a.tensor, b.scalar());
  return b.is_tensor ? at::where(less, a.scalar(), b.tensor) : at::where(less, a.scalar(), b.scalar());
}

Tensor apply(at::Device device, Op op, std::span<const Argument> in, DType dtype) {
  const auto* first = in.empty() ? nullptr : std::get_if<Tensor>(in.data());
  const bool same_dtype = (op == Op::cast || op == Op::positions) && first && first->dtype() == dtype;
  if (op == Op::same || same_dtype) return *first;
  if (op == Op::to_empty) {
    std::vector<Argument> sizes;
    for (const std::int64_t n : first->shape()) sizes.emplace_back(static_cast<double>(n));
    return apply(device, Op::empty, sizes, first->dtype());
  }
  const std::vector<Value> values = values_on(device, in);
  if (sums_products(op)) return take(sum_products(op, values, to_torch(dtype)));
  if (moves_elements(op)) return take(move_elements(op, values, to_torch(dtype), device));
  if (op == Op::arange)
    return take(at::arange(values.at(0).scalar(), values.at(1).scalar(), values.at(2).scalar(),
                           at::TensorOptions().dtype(to_torch(dtype)).device(device)));
  if (op == Op::fma) return take(fused(values));
  if (op == Op::mask_outside) return take(mask_outside(values, to_torch(dtype)));
  if (op == Op::scalar)
    return take(at::scalar_tensor(values.at(0).scalar(), at::TensorOptions().dtype(to_torch(dtype)).device(device)));
  if (op == Op::clamp) return take(at::clamp(values.at(0).tensor, values.at(1).scalar(), values.at(2).scalar()));
  if (op == Op::select_less) return take(select_less(values.at(0), values.at(1), values.at(2), values.at(3)));
  if (values.size() == 2) return take(binary(op, values[0], values[1]));
  return take(unary(op, values.at(0).tensor, to_torch(dtype)));
}

}  // namespace

Tensor torch_apply(TorchDevice where, Op op, std::span<const Argument> in, DType dtype) {
  try {
    return apply(where == TorchDevice::cpu ? at::Device(at::kCPU) : at::Device(at::kCUDA, 0), op, in, dtype);
  } catch (const c10::NotImplementedError& e) {
    throw Refused(std::string("LibTorch: ") + e.what_without_backtrace());
  } catch (const c10::Error& e) {
    throw std::runtime_error(std::string("LibTorch: ") + e.what_without_backtrace());
  }
}

std::string torch_version() { return TORCH_VERSION; }
std::string torch_versions() { return std::string("LibTorch ") + TORCH_VERSION; }
std::string torch_cpu_capability() { return at::get_cpu_capability(); }

std::string torch_cuda_missing() {
  static const std::string reason = []() -> std::string {
    const auto library = std::filesystem::path(ROPEWALK_LIBTORCH_DIR) / "libtorch_cuda.so";
    if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) return dlerror();
    try {
      at::ones({1}, at::TensorOptions().device(at::kCUDA, 0)).to(at::kCPU);
      return {};
    } catch (const c10::Error& e) {
      const std::string text = e.what_without_backtrace();
      return text.substr(0, text.find('\n'));
    }
  }();
  return reason;
}

void set_cpu_threads(int threads) { at::set_num_threads(threads); }

}  // namespace ropewalk
