// What two subjects take for the same stage: counted, and measured side by side.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

// Operations, bytes and tensors of each where they are counted; the least seconds of each over rounds in which both
// take turns, and their ratio first / second. Empty fields where a subject cannot be timed.
nlohmann::ordered_json compare_cost(const std::vector<std::string>& stages, Subject& first, const Whole& of_first,
                                    Subject& second, const Whole& of_second);

}  // namespace ropewalk
