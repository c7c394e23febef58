// What a recipe's roundings allow: its steps are walked with exact values and bounds on their relative error (a running
// error analysis, Higham 2002, section 3.3), so every limit follows from the recipe and from nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {

// The relative error of a product of two factors that are off by a and b.
constexpr double compose(double a, double b) { return (1 + a) * (1 + b) - 1; }

// A value that only rounding separates from what it stands for: an error of at most
//   function_ulp * ulp_f(value) + sum over r in roundings of ulp_r(value) / 2 + relative * |value| +
// absolute.
struct TrigBudget {
  double function_ulp = 0;
  reference::Format function_format = reference::Format::float32;
  std::vector<reference::Format> roundings;
  double relative = 0;
  double absolute = 0;  // of the argument, whose reduction rounds (|sin'| <= 1), and of approximations
};

struct Budget {
  double positions_relative = 0;     // of a position that its dtype may not hold exactly
  double positions_exact_below = 0;  // every integer up to this is exact
  // The recipe's positions stand for position / this, and its inv_freq for the frequency times this: linear scaling
  // where a project divides positions.
  double position_divisor = 1;
  std::vector<double> inv_freq_relative;  // one for each pair, of the exact frequency
  std::vector<double> angle_relative;     // the same, of the product of the observed position and frequency
  TrigBudget cos, sin;                    // of the function of the observed angle
  // The format of the coarsest rounding in each stage: how many significand bits its tensor should use.
  reference::Format inv_freq_format{}, angle_format{}, cos_format{}, sin_format{};
  std::string inv_freq_formula, angle_formula, cos_formula, sin_formula, source;
};

// One step of the claimed recipe, and the bounds after it: what `explain` shows.
struct CountedStep {
  std::string stage;
  Step step;
  std::vector<double> relative;    // of each pair, or one for all
  std::optional<TrigBudget> trig;  // from the cosine or sine on
};

// The budget of `claims` when it runs on a device with these documented bounds. Throws Refused for a step whose
// rounding cannot be bounded. `counted`, if given, gets every step.
Budget count_roundings(const Recipe& claims, const DocumentedBounds& device, const Case& problem,
                       std::vector<CountedStep>* counted = nullptr);

}  // namespace ropewalk
