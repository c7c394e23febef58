// What two subjects took side by side, a line each for people.
#pragma once

#include <string>
#include <vector>

#include "harness/report/result.hpp"

namespace ropewalk {

std::vector<std::string> cost_lines(const Report& report);

}  // namespace ropewalk
