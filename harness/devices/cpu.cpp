#include "harness/devices/makers.hpp"
#include "harness/devices/torch_ops.hpp"

namespace ropewalk {
namespace {

class Cpu final : public Device {
 public:
  std::string name() const override { return "cpu"; }
  std::string missing() const override { return {}; }
  bool emulated() const override { return false; }
  std::string versions() const override { return torch_versions() + ", " + torch_cpu_capability(); }
  // sin and cos: MKL's VML in its HA mode (1 ulp) where LibTorch was built with MKL, else SLEEF u35 (3.5 ulp); the
  // wider one, because a user's own LibTorch may be either. pow: SLEEF u10 or glibc. exp and log: 1 ulp (SLEEF u10, VML
  // HA).
  DocumentedBounds bounds() const override {
    return {3.5, 1, 1, 0, false, "SLEEF reference (sin, cos u35; pow, exp, log u10); oneMKL VML HA 1 ulp"};
  }
  Tensor apply(Op op, std::span<const Argument> in, DType dtype) override {
    return torch_apply(TorchDevice::cpu, op, in, dtype);
  }
};

}  // namespace

std::shared_ptr<Device> make_cpu() { return std::make_shared<Cpu>(); }

}  // namespace ropewalk
