// Two reports side by side: what got better or worse between them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ropewalk {

struct Change {
  std::string id;
  std::string what;  // "pass -> fail (not expected)", "margin 0.5 -> 0.7"; of one side only: its verdict
};

struct Comparison {
  std::vector<Change> better, worse, appeared, vanished;  // appeared in the new report's order, the others in the old's
  std::size_t same = 0;
  bool old_complete = true,
       new_complete = true;  // what vanished from an interrupted run may only not have been reached
};

// Both as read_report gives them. Worse is, in this order: what was as expected no longer is; a verdict further down
// the list pass, untrusted, skipped, fail, error; a larger margin or, where one side has none, a larger max_abs.
// `growth` is the relative increase of these numbers that still counts as the same. NaN is larger than infinity.
Comparison compare(const nlohmann::json& old_report, const nlohmann::json& new_report, double growth = 0);

// At most `most` lines for each of the four lists, then how many more there are.
std::string comparison_text(const Comparison& comparison, std::size_t most = 20);

}  // namespace ropewalk
