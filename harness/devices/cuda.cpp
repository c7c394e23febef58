#include "harness/devices/makers.hpp"
#include "harness/devices/torch_ops.hpp"

namespace ropewalk {
namespace {

// The same LibTorch calls on the first GPU. Results stay there until somebody looks at them.
class Cuda final : public Device {
 public:
  std::string name() const override { return "cuda"; }
  std::string missing() const override { return torch_cuda_missing(); }
  bool emulated() const override { return false; }
  std::string versions() const override { return torch_versions(); }
  DocumentedBounds bounds() const override { return cuda_documented_bounds(); }
  Tensor apply(Op op, std::span<const Argument> in, DType dtype) override {
    return torch_apply(TorchDevice::cuda, op, in, dtype);
  }
};

}  // namespace

std::shared_ptr<Device> make_cuda() { return std::make_shared<Cuda>(); }

}  // namespace ropewalk
