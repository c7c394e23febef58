#include "harness/devices/torch_tensors.hpp"

#include <array>

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

DType from_torch(at::ScalarType type) {
  for (const auto& [ours, theirs] : kTypes)
    if (theirs == type) return ours;
  throw Refused(std::string("a result of dtype ") + at::toString(type) + " is not supported");
}

class Held final : public Native {
 public:
  explicit Held(at::Tensor tensor) : tensor_(std::move(tensor)) {}
  std::shared_ptr<std::byte> host() const override {
    const at::Tensor kept = tensor_.to(at::kCPU).resolve_conj().contiguous();
    return {static_cast<std::byte*>(kept.data_ptr()), [kept](std::byte*) {}};
  }
  bool dense() const override { return tensor_.is_contiguous(); }
  const void* memory() const override { return tensor_.storage().data(); }
  const at::Tensor& tensor() const { return tensor_; }

 private:
  at::Tensor tensor_;
};

}  // namespace

at::ScalarType to_torch(DType dtype) {
  for (const auto& [ours, theirs] : kTypes)
    if (ours == dtype) return theirs;
  throw Refused("LibTorch has no such dtype");
}

at::Tensor view(const Tensor& tensor, at::Device device) {
  if (tensor.empty()) throw std::runtime_error("a tensor on the meta device has no elements to compute with");
  if (const auto* held = dynamic_cast<const Held*>(tensor.native())) return held->tensor().to(device);
  auto* data = const_cast<std::byte*>(tensor.bytes().data());  // NOLINT: only operations that say so write
  const auto owner = [tensor](void*) {};  // a view that LibTorch gives back lives as long as it is used
  return at::from_blob(data, tensor.shape(), owner, at::TensorOptions().dtype(to_torch(tensor.dtype()))).to(device);
}

Tensor take(const at::Tensor& result) {
  return {from_torch(result.scalar_type()), result.sizes().vec(), std::make_shared<const Held>(result)};
}

std::vector<Value> values_on(at::Device device, std::span<const Argument> in) {
  std::vector<Value> values;
  values.reserve(in.size());
  for (const Argument& argument : in) {
    if (const auto* tensor = std::get_if<Tensor>(&argument))
      values.push_back({view(*tensor, device), 0, true});
    else
      values.push_back({{}, std::get<double>(argument), false});
  }
  return values;
}

}  // namespace ropewalk
