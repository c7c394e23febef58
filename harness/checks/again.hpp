// Rows of a subject that are computed again: row by row instead of in one block, and with two threads instead of one.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/checks/invariants.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

// Of a table with so many rows and pairs; the checks get both sides.
void compute_again(Subject& subject, std::int64_t rows, std::int64_t pairs,
                   const std::vector<InvariantsCheck*>& checks);

}  // namespace ropewalk
