// A report on one screen of a terminal.
#pragma once

#include <string>

#include "harness/report/result.hpp"

namespace ropewalk {

// At most about 40 lines however many results there are: counts for each case; for each identity check of a case and
// dtype one line that says in how many cells the two differ, by how much, where, and from which stage on; the first
// unexpected results; what was skipped and what was emulated; times. Ends with one line that is the answer.
std::string summary_text(const Report& report);

}  // namespace ropewalk
