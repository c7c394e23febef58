// The limit of one result with its numbers filled in, and the roundings that it counts, step by step.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/cases/case.hpp"
#include "harness/recipes/roundings.hpp"

namespace ropewalk {

// A line a step of the stages up to `stage`: what it does, and the bound of the relative error after it in units of
// 2^-24, for this pair; for cosines and sines what their absolute error may be.
std::string steps_text(const std::vector<CountedStep>& steps, const std::string& stage, std::size_t pair);

// The limit of this stage at this element: formula, numbers, result. `value` is the reference's value there.
std::string limit_text(const Budget& budget, const Rope& rope, const std::string& stage, std::int64_t position,
                       std::size_t pair, double value);

}  // namespace ropewalk
