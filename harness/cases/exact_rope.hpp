// What the reference says of a rope block.
#pragma once

#include "harness/cases/problem.hpp"
#include "reference/table.hpp"

namespace ropewalk {

// All throw std::invalid_argument where the block's scaling is not defined.
reference::Frequencies frequencies_of(const Rope& rope);
reference::Amplitude amplitude_of(const Rope& rope);
reference::Table table_of(const Rope& rope);  // of these frequencies, times this amplitude

}  // namespace ropewalk
