// Steps of IEEE operations alone, done on the host: the same bits on every device.
#pragma once

#include <span>

#include "harness/devices/device.hpp"

namespace ropewalk {

bool is_ieee_sequence(Op op);                                   // keep_bits, running_product, less_turns, ...
Tensor run_ieee_sequence(Op op, std::span<const Argument> in);  // throws Refused

// What the argument of a sine or cosine may be off by after such a reduction of an angle of at most this size, in
// radians. Of the float64 product n * 2 pi, two subtractions and one rounding to float32: docs/numerics.md.
double argument_error(Op reduction, double largest_angle);

}  // namespace ropewalk
