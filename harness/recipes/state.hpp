// What a recipe serves in calls one after another.
#pragma once

#include <vector>

#include "harness/cases/case.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {

// One call.
struct Served {
  double length = 0;         // that its frequencies are of
  bool of_buffers = false;   // they come from buffers of the module that a cast has reached
  bool first_table = false;  // its rows come from a table that was made before the first call
};

// Of each call of a case with a state block. `cast_after_build`: a cast of the module comes between the first table and
// the first call, else before the table.
std::vector<Served> served(const Recipe& recipe, const Case& problem, bool cast_after_build);

}  // namespace ropewalk
