// A recipe's operations as LibTorch computes them, on any of its devices. Only for the device files of this folder.
#pragma once

#include <span>
#include <string>

#include "harness/devices/device.hpp"

namespace ropewalk {

enum class TorchDevice { cpu, cuda };

Tensor torch_apply(TorchDevice where, Op op, std::span<const Argument> in, DType dtype);
std::string torch_versions();
std::string torch_cpu_capability();
// Why CUDA cannot be used, in the loader's or the driver's own words; empty when it can. Loads libtorch_cuda once.
std::string torch_cuda_missing();

}  // namespace ropewalk
