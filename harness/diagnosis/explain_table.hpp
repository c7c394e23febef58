// Is a table of cosines and sines what one simple change of the exact one gives: another base, scale, position or
// order?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/recipes/roundings.hpp"
#include "harness/subjects/subject.hpp"
#include "reference/table.hpp"

namespace ropewalk {

// The exact table with a change. Column j holds the frequency of pair `pair_of[j]`.
struct Hypothesis {
  std::string kind, text;  // "base", "base 500000 instead of 10000"
  std::string stage;       // where such a change enters
  double base = 0;
  bool unscaled = false;                // the problem's scaling is dropped
  double scale = 1;                     // of the frequencies (or of the positions)
  std::vector<std::int64_t> positions;  // of the rows
  std::vector<std::size_t> pair_of;
  double amplitude = 1;
  bool swapped = false, negated = false;  // sines for cosines; sines with the other sign
};

// How near the hypothesis comes: the largest error as a share of its limit, where that is, and both there.
struct Explained {
  Hypothesis hypothesis;
  double share = 0, error = 0, limit = 0;
  std::int64_t position = 0, pair = 0;
  bool holds() const { return share <= 1; }
};

// Limit of an element with value v = amplitude * cos or sin(p w_j): what the claim's cosine or sine may round (U ulp
// and its later roundings; twice U where an amplitude other than 1 multiplies it, and two roundings more), and
// |amplitude| p w_j ((1 + r_j)(1 + r_a) - 1) for the angle, r_j with two roundings more where there is a scale.
// `claims` is the recipe whose roundings are counted, at the hypothesis's base.
Explained test_hypothesis(const Hypothesis& hypothesis, const Case& problem, const Stages& stages,
                          const std::string& claims);

// Every change of these kinds that explains the table: base, scale, offset of the positions, positions rounded to 16
// bits, other positions, amplitude, order of the pairs, cosines and sines exchanged or of another sign. Only for tables
// with both cosines and sines. `base_known` false: the problem has none, and only the base is fitted.
std::vector<Explained> fitting_hypotheses(const Case& problem, const Stages& stages, const std::string& claims,
                                          bool base_known);

// Bases that these frequencies may mean, the plainest first; empty if they are no powers of anything.
std::vector<double> plausible_bases(const std::vector<double>& frequencies);

}  // namespace ropewalk
