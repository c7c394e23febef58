#include "harness/diagnosis/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "harness/cases/fields.hpp"
#include "harness/report/json.hpp"
#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

// What gives one table: a recipe in a dtype, and the devices that give the same bits.
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

std::string line_of(const Class& entry) {
  const Match& match = entry.match;
  std::string text =
      fmt::format("{}{} in {} on {}", match.recipe, match.module_cast ? " after a cast of the module" : "",
                  name_of(match.dtype), fmt::join(entry.devices, ", "));
  if (!match.other_dtype.empty())
    text += fmt::format("; {} stored in another dtype", fmt::join(match.other_dtype, ", "));
  if (!match.parent.empty()) text += fmt::format("; known fault of {}: {}", match.parent, match.title);
  return text;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string where(const Result& r) {
  std::string text;
  if (r.stage != "inv_freq") text += fmt::format(" at position {}", r.worst->position);
  if (r.stage != "positions") text += fmt::format(" pair {}", r.worst->pair);
  return text;
}

// The element that comes nearest to its limit, or exceeds it most.
std::string nearest_to_limit(const Result& r) {
  if (!r.worst || !r.local_limit || !r.total_limit) return "";
  const double local = r.local_limit->value, total = r.total_limit->value;
  std::string limits = local == total ? short_number(local)
                                      : fmt::format("local {}, total {}", short_number(local), short_number(total));
  const char* without = std::max(local, total) == 0 ? "beyond a limit of 0" : "no number within any limit";
  const std::string share = r.margin ? fmt::format("{:.3g} times its limit", *r.margin) : without;
  return fmt::format("{}{}; limit {}", share, where(r), limits);
}

std::string bands(const char* what, const std::vector<Band>& bands) {
  std::vector<std::string> parts;
  for (const Band& band : bands) {
    if (band.first > band.last) continue;
    const std::string range =
        band.first == band.last ? fmt::format("{}", band.first) : fmt::format("{}-{}", band.first, band.last);
    parts.push_back(range + ": " + short_number(band.max_abs));
  }
  return fmt::format("  largest by {}  {}\n", what, fmt::join(parts, "  "));
}

std::string result_lines(const Investigation& found) {
  std::string out = fmt::format("{:<10} {:<9} {:>11} {:>11}  {}\n", "stage", "verdict", "local error", "total error",
                                "nearest to its limit");
  bool told = false;
  for (const Result& r : found.judgement.results) {
    if (r.relation != Relation::accuracy) continue;
    out += fmt::format("{:<10} {:<9} {:>11} {:>11}  {}\n", r.stage, name_of(r.verdict),
                       short_number(r.error->local.max_abs), short_number(r.error->total.max_abs), nearest_to_limit(r));
    if (r.measured.nan[0] + r.measured.inf[0] > 0)
      out += fmt::format("  {} NaN, {} infinite\n", r.measured.nan[0], r.measured.inf[0]);
    if (!r.reason.empty()) out += "  " + r.reason + "\n";
    // The others fail as a rule because this one does.
    if (r.verdict != Verdict::fail || std::exchange(told, true)) continue;
    if (r.stage != "inv_freq") out += bands("position", r.measured.by_position);
    if (r.stage != "positions") out += bands("pair", r.measured.by_pair);
  }
  for (const Result& r : found.judgement.results)
    if (r.relation == Relation::invariants && !r.reason.empty()) out += fmt::format("{}: {}\n", r.stage, r.reason);
  return out;
}

std::string one_frequency_line(const OneFrequency& one) {
  if (!one.asked) return "";
  if (one.explained())
    return fmt::format(
        "each pair has one frequency that explains every position, at most {:.1f} float32 ulp from exact\n",
        one.largest_ulp);
  return fmt::format(
      "no one frequency within the limits explains pair {} at every position ({} of {} pairs have one)\n",
      fmt::join(one.unexplained.begin(),
                one.unexplained.begin() + std::min<std::ptrdiff_t>(8, std::ssize(one.unexplained)), ", "),
      one.pairs - std::ssize(one.unexplained), one.pairs);
}

std::string explanation_lines(const Investigation& found) {
  std::string out;
  for (const Explained& e : found.explained)
    out += fmt::format("explained by: {}; largest error {} of the limit {} ({:.3g}) at position {} pair {}\n",
                       e.hypothesis.text, short_number(e.error), short_number(e.limit), e.share, e.position, e.pair);
  return out;
}

std::string identity_lines(const Identification& identification) {
  const auto list = classes(identification.identical);
  std::string out;
  if (list.empty()) {
    out = fmt::format("no known recipe gives these bits ({} tried)\n", identification.tried);
    const auto& near = identification.nearest;
    if (near && 2 * near->mismatched < near->compared)
      out += fmt::format("  nearest: {}; {} of {} numbers differ, by at most {}\n", line_of({*near, {near->device}}),
                         near->mismatched, near->compared, short_number(near->max_abs));
    return out;
  }
  // Where a published recipe gives these bits, a fault that gives them too does not show.
  const bool published = list.front().match.parent.empty() && !list.front().match.module_cast;
  std::vector<std::string> dormant;
  out = "bit-identical to\n";
  for (const Class& entry : list) {
    if (published && (!entry.match.parent.empty() || entry.match.module_cast))
      dormant.push_back(entry.match.recipe + (entry.match.module_cast ? " after a cast" : ""));
    else
      out += "  " + line_of(entry) + "\n";
  }
  if (!dormant.empty()) out += fmt::format("known faults that would not show here: {}\n", fmt::join(dormant, ", "));
  return out;
}

nlohmann::ordered_json json_of(const Match& match) {
  return {{"recipe", match.recipe},
          {"device", match.device},
          {"emulated", match.emulated},
          {"module_cast", match.module_cast},
          {"dtype", name_of(match.dtype)},
          {"fault_of", match.parent.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(match.parent)},
          {"title", match.title},
          {"stored_in_another_dtype", match.other_dtype},
          {"compared", match.compared},
          {"mismatched", match.mismatched},
          {"max_abs", json_number(match.max_abs)}};
}

nlohmann::ordered_json json_of(const OneFrequency& one) {
  if (!one.asked) return nullptr;
  return {{"pairs", one.pairs}, {"unexplained", one.unexplained}, {"largest_ulp", json_number(one.largest_ulp)}};
}

nlohmann::ordered_json json_of(const Explained& e) {
  return {{"kind", e.hypothesis.kind},
          {"text", e.hypothesis.text},
          {"stage", e.hypothesis.stage},
          {"base", e.hypothesis.base},
          {"scale", e.hypothesis.scale},
          {"amplitude", e.hypothesis.amplitude},
          {"error", json_number(e.error)},
          {"limit", json_number(e.limit)},
          {"share", json_number(e.share)},
          {"position", e.position},
          {"pair", e.pair}};
}

}  // namespace

std::string causes_text(const Investigation& found) {
  std::string out = identity_lines(found.identification) + explanation_lines(found);
  if (found.dump.problem.rope.axes() > 1)
    out += "positions on several axes: another base, position, amplitude or order of pairs is not looked for\n";
  if (found.fitted_base && !found.at_fitted_base.identical.empty())
    out += fmt::format("with base {} it is ", plain(*found.fitted_base)) + identity_lines(found.at_fitted_base);
  return out;
}

std::string investigation_text(const Investigation& found) {
  std::string out = fmt::format("{}: {}", printable(found.dump.file), upper(name_of(found.verdict)));
  if (!found.first_stage.empty()) out += fmt::format(", first off at {} ({})", found.first_stage, found.how_known);
  out += "\n\n";
  for (const FoundStage& stage : found.dump.found)
    out += fmt::format("{:<10} {}: {} {}\n", stage.stage, printable(stage.tensor), name_of(stage.dtype), stage.layout);
  for (const std::string& text : found.dump.assumed) out += "assumed: " + printable(text) + "\n";
  out += fmt::format("assumed: limits of {}\n", found.claims);
  for (const std::string& text : found.dump.defects) out += "defect: " + printable(text) + "\n";
  return out + "\n" + result_lines(found) + one_frequency_line(found.one_frequency) + "\n" + causes_text(found);
}

nlohmann::ordered_json results_json(const std::vector<Result>& results) {
  Report report;
  report.results = results;
  return to_json(report, true)["results"];
}

nlohmann::ordered_json investigation_json(const Investigation& found) {
  Json tensors = Json::array(), identical = Json::array(), explained = Json::array(), at_fitted_base = Json::array();
  for (const FoundStage& stage : found.dump.found)
    tensors.push_back(
        {{"stage", stage.stage}, {"tensor", stage.tensor}, {"dtype", name_of(stage.dtype)}, {"layout", stage.layout}});
  for (const Match& match : found.identification.identical) identical.push_back(json_of(match));
  for (const Explained& e : found.explained) explained.push_back(json_of(e));
  for (const Match& match : found.at_fitted_base.identical) at_fitted_base.push_back(json_of(match));
  const auto& nearest = found.identification.nearest;
  const Rope& rope = found.dump.problem.rope;
  return {{"schema_version", 1},
          {"file", found.dump.file},
          {"verdict", name_of(found.verdict)},
          {"first_stage", found.first_stage.empty() ? Json() : Json(found.first_stage)},
          {"how_known", found.how_known.empty() ? Json() : Json(found.how_known)},
          {"claims", found.claims},
          {"rope", {{"base", rope.base}, {"head_dim", rope.head_dim}, {"rotary_dim", rope.rotary_dim()}}},
          {"tensors", tensors},
          {"assumed", found.dump.assumed},
          {"defects", found.dump.defects},
          {"results", results_json(found.judgement.results)},
          {"one_frequency", json_of(found.one_frequency)},
          {"identical", identical},
          {"nearest", nearest ? json_of(*nearest) : Json()},
          {"explained", explained},
          {"identical_at_fitted_base", at_fitted_base}};
}

}  // namespace ropewalk
