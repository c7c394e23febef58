// Whether this build and this thread compute what is written. Call it before trusting the reference.
#pragma once

#include <string>

namespace ropewalk::reference {

// Empty if all is well, else what is wrong: contraction of products and sums, fast-math, flushing of subnormal numbers
// to zero, a rounding mode other than to nearest, or a kernel that gives other bits than it should. Rounding mode and
// flushing belong to the thread: check each thread that a foreign library may have changed.
std::string self_check();

}  // namespace ropewalk::reference
