// What the reference says of a rope block.
#pragma once

#include "harness/cases/problem.hpp"
#include "reference/frequencies.hpp"

namespace ropewalk {

reference::Frequencies frequencies_of(const Rope& rope);

}  // namespace ropewalk
