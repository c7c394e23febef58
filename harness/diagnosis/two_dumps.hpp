// Two dumps of the same table and the reference: where they differ, and which one is closer to exact.
#pragma once

#include <string>
#include <vector>

#include "harness/diagnosis/dump.hpp"
#include "harness/report/result.hpp"

namespace ropewalk {

struct TwoDumps {
  std::vector<Result> results;  // identity, for each stage that both have
  std::string first_stage;      // the first that differs; empty: none does
  std::int64_t rows = 0;        // positions that both have
};

// Throws BadInput if the two have no stage, no position or not as many pairs in common.
TwoDumps compare_dumps(const Dump& a, const Dump& b);

std::string two_dumps_text(const TwoDumps& two);
nlohmann::ordered_json two_dumps_json(const TwoDumps& two);

}  // namespace ropewalk
