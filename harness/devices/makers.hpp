// The devices' makers: one for each file of this folder, listed in device.cpp.
#pragma once

#include <memory>

#include "harness/devices/device.hpp"

namespace ropewalk {

std::shared_ptr<Device> make_cpu();
std::shared_ptr<Device> make_cuda();
std::shared_ptr<Device> make_cuda_math();
std::shared_ptr<Device> make_cuda_kernels();
DocumentedBounds cuda_documented_bounds();

}  // namespace ropewalk
