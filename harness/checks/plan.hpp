// The results that a case will make: of each check, for each subject or pair of them, and each stage.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/case.hpp"

namespace ropewalk {

// One result to come: which check of the case makes it, and for which subjects and stage.
struct Planned {
  std::size_t check = 0;
  std::vector<std::size_t> subjects;
  std::string stage;
  std::string id;
};
// Every result that the case makes, in order.
std::vector<Planned> plan(const Case& problem);

}  // namespace ropewalk
