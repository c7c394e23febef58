// The calls of a case with a state block.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/case.hpp"

namespace ropewalk {

// One problem for each call, in order: its new rows as positions, its length in the scaling. Of a case without a state
// block one of all its rows. They have no subjects and no checks.
std::vector<Case> calls_of(const Case& problem);

// In which of these calls a row of the whole case is served, and which of its rows that is.
std::pair<std::size_t, std::int64_t> place_in(const std::vector<Case>& calls, std::int64_t row);

inline constexpr std::string_view kRecomputed = "recomputed";  // the variant of a subject
// The same rows where no keys are kept: each sequence at once, in one call of the length of its last.
State recomputed(const State& state);

}  // namespace ropewalk
