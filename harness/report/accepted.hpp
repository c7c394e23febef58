// Failures that a stored report holds are known: expected as long as they do not grow. docs/gate.md.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "harness/report/result.hpp"

namespace ropewalk {

struct AcceptedReport {
  std::string file;
  std::unordered_map<std::string, nlohmann::json> failures;  // by id
};

// Throws BadInput; a report of an interrupted run is refused.
AcceptedReport read_accepted(const std::filesystem::path& file);

// Of a result that is settled already: a failure that the report has too, with the same first stage and no larger
// error, becomes expected; of any other the reason says what is new, or what has grown and by how much.
void settle_accepted(Result& result, const AcceptedReport& accepted);

}  // namespace ropewalk
