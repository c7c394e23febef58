#include "harness/devices/device.hpp"

#include "harness/bad_input.hpp"
#include "harness/devices/makers.hpp"

namespace ropewalk {

DocumentedBounds cuda_documented_bounds() {
  return {2,
          4,
          2,
          2,
          true,
          "CUDA C++ Programming Guide, mathematical functions (sinf, cosf 2; powf 4; expf 2, logf 1; sincospif 2 in "
          "older editions, now 1)"};
}

std::map<std::string, Tensor> Device::kernel(const std::string&, const std::map<std::string, Tensor>&, const Case&) {
  throw Refused(name() + " runs no kernels");
}

std::vector<std::string> device_names() { return {"cpu", "cuda", "cuda-math", "cuda-kernels"}; }

std::shared_ptr<Device> make_device(const std::string& name) {
  if (name == "cpu") return make_cpu();
  if (name == "cuda") return make_cuda();
  if (name == "cuda-math") return make_cuda_math();
  if (name == "cuda-kernels") return make_cuda_kernels();
  throw BadInput("device", "", name, "one of cpu, cuda, cuda-math, cuda-kernels");
}

#ifndef ROPEWALK_CUDA_MATH
namespace {

class LeftOut final : public Device {
 public:
  explicit LeftOut(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::string missing() const override { return "left out of this build (-DROPEWALK_CUDA_MATH=OFF)"; }
  bool emulated() const override { return true; }
  std::string versions() const override { return {}; }
  DocumentedBounds bounds() const override { return cuda_documented_bounds(); }
  Tensor apply(Op, std::span<const Argument>, DType) override { throw Refused(missing()); }

 private:
  std::string name_;
};

}  // namespace

std::shared_ptr<Device> make_cuda_math() { return std::make_shared<LeftOut>("cuda-math"); }
std::shared_ptr<Device> make_cuda_kernels() { return std::make_shared<LeftOut>("cuda-kernels"); }
#endif

}  // namespace ropewalk
