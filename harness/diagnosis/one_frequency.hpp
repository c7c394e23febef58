// From a table of cosines and sines alone: is there, for each pair, one frequency that explains every position? Limits
// of the total error grow with the position and hide a fault of the trigonometry behind what the frequency may be off
// by; this does not.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/recipes/roundings.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

struct OneFrequency {
  bool asked = false;                 // false: the claim's angle is not one fp32 product, or the stages are not there
  std::int64_t pairs = 0, tried = 0;  // pairs looked at; candidates for all of them together
  std::vector<std::int64_t> unexplained;  // pairs
  double largest_ulp = 0;                 // of the chosen float32 frequencies against the exact ones
  bool explained() const { return asked && unexplained.empty(); }
};

// Candidates of pair j: every float32 within theta_j r_j of theta_j (r_j as the claim allows it), with the product
// p f rounded once to float32 or not at all; and theta_j itself over the reals. A candidate explains the pair if every
// cosine and sine is within the claim's limit of the function of that angle, times the amplitude.
OneFrequency one_frequency(const Case& problem, const Stages& stages, const Budget& budget);

}  // namespace ropewalk
