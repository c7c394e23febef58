// What an investigation found, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/diagnosis/investigation.hpp"

namespace ropewalk {

std::string investigation_text(const Investigation& found);
std::string causes_text(const Investigation& found);  // the part of it that says where it comes from
nlohmann::ordered_json investigation_json(const Investigation& found);
nlohmann::ordered_json results_json(const std::vector<Result>& results);  // as in a report

}  // namespace ropewalk
