// What the identity checks of a run found, one line for each case, dtype and pair of subjects.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/report/result.hpp"

namespace ropewalk {

// "before", "float32", "on-cpu ~ on-gpu", "differs in 27 of 27 cells, largest 1.2e-04 in sin at position 4095 pair 3
// (head_dim=64,...), starts at inv_freq, closer to exact: on-cpu". A cell is one point of the grid with all its stages.
struct IdentityLine {
  std::string label, dtypes, subjects, finding;
  bool differs = false;
};

// In the report's order. Dtypes for which the same holds and nothing differs share a line: "float32 bfloat16".
std::vector<IdentityLine> identity_lines(const Report& report);
// At most `most` lines in their order: the first of each case, then the second of each, and so on.
std::vector<IdentityLine> some_of_each_case(const std::vector<IdentityLine>& lines, std::size_t most);
std::vector<std::string> in_columns(const std::vector<IdentityLine>& lines);

// "head_dim=64,base=10000": the parameters of a cell as its id has them.
std::string params_text(const nlohmann::ordered_json& params);
// The case's name; with the suite's before it when the report holds more than one suite.
std::string case_label(const Report& report, const Result& result);

}  // namespace ropewalk
