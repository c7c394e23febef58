// Limits of cosines and sines, element by element, from a recipe's budget (docs/numerics.md, 2.2).
#pragma once

#include <span>

#include "harness/recipes/roundings.hpp"

namespace ropewalk {

// limit[i]: U ulp of the function's value, half an ulp for each later rounding (of a value that may have grown by
// then), what is relative to the value, and what does not depend on it.
void trig_limits(const TrigBudget& budget, std::span<const double> value, std::span<double> limit);

}  // namespace ropewalk
