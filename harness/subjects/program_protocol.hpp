// The line protocol (docs/protocol.md) as a program is asked in it, and its answers, checked.
#pragma once

#include <set>
#include <string>

#include "harness/cases/json_file.hpp"
#include "harness/subjects/process.hpp"

namespace ropewalk {

// One question, one answer: a JSON object with a known status. Throws SubjectError for any other.
Json ask(Process& process, const Json& question, double timeout_s);
std::string message_of(const Json& answer);  // quoted

struct Abilities {
  std::set<std::string> ops, dtypes;
};
Abilities describe(Process& process, double timeout_s);

}  // namespace ropewalk
