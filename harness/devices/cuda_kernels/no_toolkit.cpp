// In place of gpu.cu in a build without the CUDA Toolkit.
#include <stdexcept>

#include "harness/devices/cuda_kernels/run.hpp"

namespace ropewalk::kernels::gpu {

std::string missing() { return "built without the CUDA Toolkit (no nvcc was found)"; }
std::string versions() { return "built without the CUDA Toolkit"; }
void table(TableWay, const TableArguments&) { throw std::runtime_error(missing()); }
void rotate(const RotationPlan&, Element, const RotationArguments&, std::int64_t) {
  throw std::runtime_error(missing());
}
void pad(PadMethod, Element, const PadArguments&) { throw std::runtime_error(missing()); }

}  // namespace ropewalk::kernels::gpu
