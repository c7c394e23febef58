// The stages block of a recipe file; only for this folder.
#pragma once

#include <vector>

#include "harness/cases/fields.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {

Place read_place(const Field& field);

// Form only: operations, numbers of operands, dtypes that no stage may have. `place` is that of steps without "at".
std::vector<StageSteps> read_stages(const Field& field, Place place, Kind kind);

// Meaning, over the whole recipe in its order of running: every stage is there, every name is defined before its use.
void check_stages(const Recipe& recipe, const Field& stages);

}  // namespace ropewalk
