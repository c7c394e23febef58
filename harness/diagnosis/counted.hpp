// The limit of one result with its numbers filled in, and the roundings that it counts, step by step.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/cases/case.hpp"
#include "harness/recipes/roundings.hpp"

namespace ropewalk {

// A line a step of the stages up to `stage`: what it does, and the bound of the relative error after it in units of
// 2^-24, for this pair; for cosines and sines what their absolute error may be.
std::string steps_text(const Budget& budget, const std::vector<CountedStep>& steps, const std::string& stage,
                       std::size_t pair);

// Where a result comes nearest to its limit, and the limits that it has there.
struct LimitPlace {
  std::string stage;
  std::int64_t position = 0;
  std::size_t pair = 0;
  double local = 0, total = 0;
};

// Both limits, taken apart: each term with its numbers.
std::string limit_text(const Budget& budget, const Rope& rope, const LimitPlace& at);

}  // namespace ropewalk
