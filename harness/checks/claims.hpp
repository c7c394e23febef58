// What a subject of unknown make is held to.
#pragma once

#include "harness/devices/device.hpp"

namespace ropewalk {

// The recipe that programs and files claim unless they say otherwise.
inline constexpr const char* kPlainClaim = "fp32-rounded-once";
inline constexpr const char* kPlainAxialClaim = "fp32-rounded-once-axial";  // where positions are rows and columns

// The widest of the devices' documented bounds.
DocumentedBounds widest_bounds();

}  // namespace ropewalk
