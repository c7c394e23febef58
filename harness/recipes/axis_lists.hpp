// Which of several axes each pair turns by, as lists that a recipe's steps select with.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/problem.hpp"

namespace ropewalk {

// One entry a pair. The first four are columns of a row that holds all pairs of the first axis, then all of the second
// and so on: by the case, with its last two axes exchanged, with sections read one after the other or interleaved
// whatever the case says. The last one counts the pairs anew in each section.
constexpr std::array<std::string_view, 5> kAxisLists{"axis_columns", "axis_columns_exchanged", "axis_columns_blocked",
                                                     "axis_columns_interleaved", "pairs_of_sections"};

std::map<std::string, std::vector<std::int64_t>> axis_lists(const Rope& rope);  // empty for one axis

}  // namespace ropewalk
