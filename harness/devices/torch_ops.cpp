#include "harness/devices/torch_ops.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/headeronly/version.h>

#include <array>
#include <filesystem>

namespace ropewalk {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 11> kTypes{{{DType::float64, at::kDouble},
                                                                   {DType::float32, at::kFloat},
                                                                   {DType::bfloat16, at::kBFloat16},
                                                                   {DType::float16, at::kHalf},
                                                                   {DType::int64, at::kLong},
                                                                   {DType::int32, at::kInt},
                                                                   {DType::int16, at::kShort},
                                                                   {DType::int8, at::kChar},
                                                                   {DType::uint8, at::kByte},
                                                                   {DType::boolean, at::kBool},
                                                                   {DType::complex64, at::kComplexFloat}}};

at::ScalarType to_torch(DType dtype) {
  for (const auto& [ours, theirs] : kTypes)
    if (ours == dtype) return theirs;
  throw Refused("LibTorch has no such dtype");
}

DType from_torch(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == type) return ours;
  throw Refused(std::string("a result of dtype ") + at::toString(type) + " is not supported");
}

at::Tensor view(const Tensor& tensor, at::Device device) {
  auto* data = const_cast<std::byte*>(tensor.bytes().data());  // NOLINT: from_blob takes no const; nothing here writes
  return at::from_blob(data, tensor.shape(), at::TensorOptions().dtype(to_torch(tensor.dtype()))).to(device);
}

Tensor take(const at::Tensor& result) {
  const at::Tensor kept = result.to(at::kCPU).resolve_conj().contiguous();
  return {from_torch(kept.scalar_type()), kept.sizes().vec(),
          std::shared_ptr<std::byte>(static_cast<std::byte*>(kept.data_ptr()), [kept](std::byte*) {})};
}

// An operand: a tensor on the device, or a number that LibTorch treats as a Python number.
struct Value {
  at::Tensor tensor;
  double number = 0;
  bool is_tensor = false;
  at::Scalar scalar() const {
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? at::Scalar(whole) : at::Scalar(number);
  }
};

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
    default:
      throw Refused("not an operation of one operand");
  }
}

Tensor apply(at::Device device, Op op, std::span<const Argument> in, DType dtype) {
  // LibTorch gives back its argument here, which would not own the memory that it lies in.
  if (const auto* same = in.empty() ? nullptr : std::get_if<Tensor>(in.data());
      (op == Op::cast || op == Op::positions) && same && same->dtype() == dtype)
    return *same;
  std::vector<Value> values;
  for (const Argument& argument : in) {
    if (const auto* tensor = std::get_if<Tensor>(&argument))
      values.push_back({view(*tensor, device), 0, true});
    else
      values.push_back({{}, std::get<double>(argument), false});
  }
  if (op == Op::arange)
    return take(at::arange(values.at(0).scalar(), values.at(1).scalar(), values.at(2).scalar(),
                           at::TensorOptions().dtype(to_torch(dtype)).device(device)));
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
