// The exact values of a table in words, with the names of a scaling block's fields. They are the definitions of
// docs/numerics.md, 1.8, for what the block says: only the branches that it takes.
#pragma once

#include <string>

#include "harness/cases/problem.hpp"

namespace ropewalk {

// theta of pair `j`, with what its own names stand for behind it: "(yarn's frequency, ...)".
std::string frequency_formula(const Rope& rope, const std::string& j);
// The position of row `i` that pair `j` turns by, and, of several axes, which one that is: ", where axis(j) = ...".
std::string position_formula(const Rope& rope, const std::string& i, const std::string& j);
std::string axis_formula(const Rope& rope, const std::string& j);
// The amplitude and " * " behind it; empty where it is 1.
std::string amplitude_formula(const Rope& rope);

}  // namespace ropewalk
