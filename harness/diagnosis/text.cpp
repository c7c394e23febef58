#include "harness/diagnosis/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

// Matches that differ in the device alone.
struct Class {
  Match match;
  std::vector<std::string> devices;
};

std::vector<Class> classes(const std::vector<Match>& matches) {
  std::vector<Class> out;
  for (const Match& match : matches) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const Class& c) {
      return c.match.recipe == match.recipe && c.match.module_cast == match.module_cast && c.match.dtype == match.dtype;
    });
    Class& entry = same == out.end() ? out.emplace_back(Class{match, {}}) : *same;
    entry.devices.push_back(match.device + (match.emulated ? " (emulated)" : ""));
  }
  return out;
}

std::string name_of(const Match& match) {
  std::string text = match.recipe;
  if (match.module_cast) text += " after a cast of the module";
  text += fmt::format(", {}", ropewalk::name_of(match.dtype));
  return text;
}

std::string line_of(const Class& entry) {
  std::string text = fmt::format("{} on {}", name_of(entry.match), fmt::join(entry.devices, ", "));
  if (!entry.match.other_dtype.empty())
    text += fmt::format("; {} stored in another dtype", fmt::join(entry.match.other_dtype, ", "));
  if (!entry.match.parent.empty())
    text += fmt::format("\n      known fault of {}: {}", entry.match.parent, entry.match.title);
  return text;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string sizes(const Result& r) {
  if (!r.error) return "";
  const auto limit = [](const std::optional<Limit>& l) { return l ? short_number(l->value) : std::string("none"); };
  std::string text = fmt::format("{:>11} {:>11} {:>11} {:>11}", short_number(r.error->local.max_abs),
                                 limit(r.local_limit), short_number(r.error->total.max_abs), limit(r.total_limit));
  if (r.worst) {
    const bool rows = r.stage != "inv_freq";
    text += rows ? fmt::format("  position {}", r.worst->position) : "";
    text += r.stage == "positions" ? "" : fmt::format("  pair {}", r.worst->pair);
  }
  return text;
}

std::string result_lines(const Investigation& found) {
  std::string out = fmt::format("{:<10} {:<9} {:>11} {:>11} {:>11} {:>11}  {}\n", "stage", "verdict", "local error",
                                "limit", "total error", "limit", "limits are those at");
  for (const Result& r : found.judgement.results) {
    if (r.relation != Relation::accuracy) continue;
    out += fmt::format("{:<10} {:<9} {}\n", r.stage, ropewalk::name_of(r.verdict), sizes(r));
    const auto [nan, inf] = std::pair(r.measured.nan[0], r.measured.inf[0]);
    if (nan + inf > 0) out += fmt::format("{:<20} {} NaN, {} infinite\n", "", nan, inf);
    if (!r.reason.empty()) out += fmt::format("{:<20} {}\n", "", r.reason);
  }
  for (const Result& r : found.judgement.results)
    if (r.relation == Relation::invariants && !r.reason.empty()) out += fmt::format("{}: {}\n", r.stage, r.reason);
  return out;
}

std::string identity_lines(const Identification& identification) {
  const auto list = classes(identification.identical);
  std::string out;
  if (list.empty()) {
    out = fmt::format("no known recipe gives these bits ({} tried)\n", identification.tried);
    if (const auto& near = identification.nearest)
      out += fmt::format("  nearest: {}; {} of {} numbers differ, by at most {}\n", line_of({*near, {near->device}}),
                         near->mismatched, near->compared, short_number(near->max_abs));
    return out;
  }
  out = "bit-identical to\n";
  for (const Class& entry : list) out += "    " + line_of(entry) + "\n";
  return out;
}

nlohmann::ordered_json json_of(const Match& match) {
  return {{"recipe", match.recipe},
          {"device", match.device},
          {"emulated", match.emulated},
          {"module_cast", match.module_cast},
          {"dtype", ropewalk::name_of(match.dtype)},
          {"fault_of", match.parent.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(match.parent)},
          {"title", match.title},
          {"stored_in_another_dtype", match.other_dtype},
          {"compared", match.compared},
          {"mismatched", match.mismatched},
          {"max_abs", json_number(match.max_abs)}};
}

}  // namespace

std::string investigation_text(const Investigation& found) {
  std::string out = fmt::format("{}: {}", printable(found.dump.file), upper(ropewalk::name_of(found.verdict)));
  if (!found.first_stage.empty()) out += fmt::format(", first off at {} ({})", found.first_stage, found.how_known);
  out += "\n\n";
  for (const FoundStage& stage : found.dump.found)
    out += fmt::format("{:<10} {}: {} {}\n", stage.stage, printable(stage.tensor), ropewalk::name_of(stage.dtype),
                       stage.layout);
  for (const std::string& text : found.dump.assumed) out += "assumed: " + printable(text) + "\n";
  out += fmt::format("assumed: limits of {}\n", found.claims);
  for (const std::string& text : found.dump.defects) out += "defect: " + printable(text) + "\n";
  return out + "\n" + result_lines(found) + "\n" + identity_lines(found.identification);
}

nlohmann::ordered_json investigation_json(const Investigation& found) {
  nlohmann::ordered_json tensors = nlohmann::ordered_json::array(), identical = nlohmann::ordered_json::array();
  for (const FoundStage& stage : found.dump.found)
    tensors.push_back({{"stage", stage.stage},
                       {"tensor", stage.tensor},
                       {"dtype", ropewalk::name_of(stage.dtype)},
                       {"layout", stage.layout}});
  for (const Match& match : found.identification.identical) identical.push_back(json_of(match));
  const auto& nearest = found.identification.nearest;
  return {
      {"schema_version", 1},
      {"file", found.dump.file},
      {"verdict", ropewalk::name_of(found.verdict)},
      {"first_stage", found.first_stage.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(found.first_stage)},
      {"claims", found.claims},
      {"tensors", tensors},
      {"assumed", found.dump.assumed},
      {"defects", found.dump.defects},
      {"identical", identical},
      {"nearest", nearest ? json_of(*nearest) : nlohmann::ordered_json()}};
}

}  // namespace ropewalk
