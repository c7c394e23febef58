// The report as JSON: made, written, read back. Every field is explained in docs/report.md.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/report/result.hpp"

namespace ropewalk {

// `results` holds what is worth reading: everything but passes, everything unexpected, every identity result, and of
// the other passes the one with the largest margin for each case, relation, stage, dtype and subject. The passes left
// out stand in `passed` as id and margin. With all_results nothing is left out. The summary always counts all.
nlohmann::ordered_json to_json(const Report& report, bool all_results);

// Indented by two; a list of plain values, or anything that fits 120 columns, stays on one line.
std::string report_text(const nlohmann::ordered_json& document);

// All or nothing: written beside `path`, then renamed. Makes the folder. Throws BadInput if the path cannot be written.
void write_report(const std::filesystem::path& path, const nlohmann::ordered_json& document);

// A report of this schema version, checked against its schema. Throws BadInput.
nlohmann::json read_report(const std::filesystem::path& path);

}  // namespace ropewalk
