#include "harness/report/accepted.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "harness/bad_input.hpp"
#include "harness/report/json.hpp"
#include "harness/report/numbers.hpp"

namespace ropewalk {
namespace {

// NaN is larger than everything.
bool grew(double before, double after) {
  if (std::isnan(before) || std::isnan(after)) return std::isnan(after) && !std::isnan(before);
  return after > before;
}

std::string growth_text(const std::string& what, double before, double after) {
  std::string text = fmt::format("{} grew from {} to {}", what, decimal(before), decimal(after));
  if (before > 0 && std::isfinite(after)) text += fmt::format(", {:.3g} times", after / before);
  return text;
}

double number_at(const nlohmann::json& result, const char* pointer) {
  return number_in(result.at(nlohmann::json::json_pointer(pointer)));
}

// Every size of the error that both have, and by how much it grew; empty if none did.
std::string growth(const nlohmann::json& before, const Result& after) {
  const Measured& m = after.measured;
  std::vector<std::pair<std::string, std::pair<double, double>>> sizes;
  const auto add = [&](const std::string& name, const char* pointer, double now) {
    sizes.emplace_back(name, std::pair(number_at(before, pointer), now));
  };
  add("max_abs", "/measured/max_abs", m.max_abs);
  add("max_ulp", "/measured/max_ulp", m.max_ulp);
  add("the number of NaN", "/measured/nan/0", static_cast<double>(m.nan[0]));
  add("the number of infinities", "/measured/inf/0", static_cast<double>(m.inf[0]));
  if (after.relation == Relation::identity)
    add("the number of elements with other bits", "/measured/mismatched", static_cast<double>(m.mismatched));
  if (after.error && !before.at("error").is_null()) {
    add("the local max_abs", "/error/local/max_abs", after.error->local.max_abs);
    add("the local max_ulp", "/error/local/max_ulp", after.error->local.max_ulp);
  }
  if (after.margin && !before.at("margin").is_null()) add("margin", "/margin", *after.margin);
  for (const auto& [name, size] : sizes)
    if (grew(size.first, size.second)) return growth_text(name, size.first, size.second);
  return {};
}

std::string stage_text(const std::string& stage) { return stage.empty() ? "no stage" : stage; }

}  // namespace

AcceptedReport read_accepted(const std::filesystem::path& file) {
  const nlohmann::json report = read_report(file);
  if (!report["complete"].get<bool>())
    throw BadInput(file.string(), "complete", "false", "the report of a run that was not interrupted is needed");
  AcceptedReport out{file.string(), {}};
  for (const nlohmann::json& result : report["results"])
    if (result["verdict"] == "fail") out.failures.emplace(result["id"], result);
  return out;
}

void settle_accepted(Result& result, const AcceptedReport& accepted) {
  if (result.verdict != Verdict::fail) return;
  const auto refuse = [&](const std::string& why) {
    result.unexpected = true;
    result.reason += (result.reason.empty() ? "" : "; ") + why;
  };
  const auto known = accepted.failures.find(result.id);
  if (known == accepted.failures.end()) return refuse("not a failure in the accepted report " + accepted.file);
  const nlohmann::json& before = known->second;
  const std::string stage = before["first_stage"].is_null() ? "" : before["first_stage"].get<std::string>();
  if (stage != result.first_stage)
    return refuse(fmt::format("it starts at {}, in the accepted report at {}", stage_text(result.first_stage),
                              stage_text(stage)));
  if (const std::string grown = growth(before, result); !grown.empty())
    return refuse(grown + " since the accepted report " + accepted.file);
  const std::string reason = before["reason"].is_null() ? "" : before["reason"].get<std::string>();
  if (result.relation == Relation::invariants && reason != result.reason)
    return refuse("the accepted report says otherwise: " + reason);
  result.expected = Verdict::fail;
  result.unexpected = false;
  result.details["accepted"] = accepted.file;
}

}  // namespace ropewalk
