// What the identity checks of a run found, one line for each case, dtype and pair of subjects.
#pragma once

#include <string>
#include <vector>

#include "harness/report/result.hpp"

namespace ropewalk {

// "before  float32  on-cpu ~ on-gpu  differs in 27 of 27 cells, largest 1.2e-04 in sin at position 4095 pair 3
// (head_dim=64,...), starts at inv_freq, closer to exact: on-cpu". A cell is one point of the grid with all its stages.
// The lines that tell of a difference come first if `differing_first`, else all stand in the report's order.
std::vector<std::string> identity_lines(const Report& report, bool differing_first);

// "head_dim=64,base=10000": the parameters of a cell as its id has them.
std::string params_text(const nlohmann::ordered_json& params);
// The case's name; with the suite's before it when the report holds more than one suite.
std::string case_label(const Report& report, const Result& result);

}  // namespace ropewalk
