// What the reference says of a rope block.
#pragma once

#include "harness/cases/problem.hpp"
#include "reference/table.hpp"

namespace ropewalk {

// All throw std::invalid_argument where the block's scaling is not defined.
// One for each pair; of axial positions those of half the width, twice.
reference::Frequencies frequencies_of(const Rope& rope);
reference::Amplitude amplitude_of(const Rope& rope);
reference::Table table_of(const Rope& rope);  // of these frequencies, times this amplitude

// The axis that each pair turns by. Throws std::invalid_argument for sections that cannot be interleaved.
std::vector<int> axis_of_pairs(const Rope& rope);

}  // namespace ropewalk
