// Which published recipe, or which known fault, gives these bits?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

// A recipe on a device, and how what it gives compares with the tensors at hand.
struct Match {
  std::string recipe, device, title;
  std::string parent;  // of a known fault
  bool emulated = false, module_cast = false;
  DType dtype = DType::float32;          // that the recipe was asked for
  std::vector<std::string> other_dtype;  // stages that are the same numbers, stored in another dtype
  std::int64_t compared = 0, mismatched = 0;
  double max_abs = 0;                  // largest difference of a cosine or sine (of what is there, if neither is)
  std::vector<std::string> differing;  // stages
  bool identical() const { return mismatched == 0; }
};

struct Identification {
  std::vector<Match> identical;  // published recipes first, then the same after a cast of the module, then faults
  std::optional<Match> nearest;  // where nothing is identical: the fewest other numbers
  int tried = 0;
};

// Runs every recipe on every device that computes here or is emulated, with and without a cast of the module, in the
// problem's dtype and, where none is identical, in the others. Numbers are compared, not storage: a bfloat16 table that
// was dumped as float32 is recognised.
Identification identify(const Case& problem, const Stages& observed);

// The stages of a match at these positions, of each row one for every axis, for judging where the recipe goes wrong.
Stages stages_of(const Match& match, const Case& problem, const std::vector<std::int64_t>& positions);

}  // namespace ropewalk
