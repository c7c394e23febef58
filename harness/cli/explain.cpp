// One result of a report: its limit with the numbers filled in, the roundings it counts, and what may be the cause.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "harness/bad_input.hpp"
#include "harness/cases/fields.hpp"
#include "harness/cases/state.hpp"
#include "harness/checks/claims.hpp"
#include "harness/checks/running.hpp"
#include "harness/cli/commands.hpp"
#include "harness/diagnosis/counted.hpp"
#include "harness/diagnosis/failing.hpp"
#include "harness/diagnosis/investigation.hpp"
#include "harness/diagnosis/text.hpp"
#include "harness/report/json.hpp"
#include "harness/report/numbers.hpp"
#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

using nlohmann::json;

std::string text_in(const json& object, const char* field) {
  return object.contains(field) && object[field].is_string() ? object[field].get<std::string>() : "";
}

// The result of this id, or the only one whose id contains it.
json find_result(const std::string& file, const json& report, const std::string& id) {
  std::vector<std::string> near;
  const json* found = nullptr;
  for (const json& result : report["results"]) {
    const std::string own = text_in(result, "id");
    if (own == id) return result;
    if (own.find(id) == std::string::npos) continue;
    near.push_back(own);
    found = &result;
  }
  if (report["passed"].contains(id))
    throw BadInput(file, "", id, "it passed, and only its margin is kept; run with --all-results keeps all of it");
  if (near.size() == 1) return *found;
  constexpr std::size_t kShown = 3;
  const std::string more = near.size() > kShown ? fmt::format(" and {} more", near.size() - kShown) : "";
  if (near.size() > kShown) near.resize(kShown);
  throw BadInput(file, "", id, near.empty() ? "no such result" : "several fit: " + joined(near) + more);
}

// The case of the result, if its file is still there and still has it.
std::optional<Case> case_of(const json& result) {
  const std::string rerun = text_in(result, "rerun"), id = text_in(result, "id");
  const std::string before = "ropewalk run ", after = " --filter ";
  const std::size_t end = rerun.rfind(after);  // a file may be called so; an id has no space
  if (!rerun.starts_with(before) || end == std::string::npos) return {};
  const std::string file = unquoted(rerun.substr(before.size(), end - before.size()));
  if (!std::filesystem::exists(file)) return {};
  for (Case& problem : read_case_file(file))
    if (id.starts_with(problem.id + "/")) return std::move(problem);
  return {};
}

// The call that decided, where the case has several.
Case call_of(const json& result, const Case& problem) {
  const json& worst = result["worst"];
  const std::size_t call = worst.contains("call") ? worst["call"].get<std::size_t>() : 0;
  return calls_of(problem).at(call);
}

void print_error(const json& result) {
  const auto size = [&](const char* which) { return short_number(number_in(result["error"][which]["max_abs"])); };
  fmt::print("error: local {}, inherited {}, total {} (largest)\n", size("local"), size("inherited"), size("total"));
  const json& worst = result["worst"];
  if (worst.is_null()) return;
  const std::string call = worst.contains("call")
                               ? fmt::format(" in call {} of length {}", worst["call"].dump(), worst["length"].dump())
                               : "";
  fmt::print("nearest to its limit: position {} pair {}{}: got {}, expected {}\n", worst["position"].dump(),
             worst["pair"].dump(), call, text_in(worst, "got_decimal"), text_in(worst, "expected_decimal"));
}

void print_limit(const char* which, const json& limit) {
  if (limit.is_null()) return;
  fmt::print("{} limit there: {} {}\n  {}\n  source: {}\n", which, decimal(number_in(limit["value"])),
             text_in(limit, "unit"), text_in(limit, "formula"), text_in(limit, "source"));
}

// The roundings of the recipe that the subject claims, on its device.
void print_roundings(const json& result, const Case& problem) {
  const json& subject = result["subjects"][0];
  const std::string claims = text_in(subject, "claims").empty() ? kPlainClaim : text_in(subject, "claims");
  const Recipe recipe = find_recipe(claims);
  if (recipe.kind != Kind::table) return;
  SubjectInfo info;
  info.device = text_in(subject, "device");
  std::vector<CountedStep> steps;
  const Budget budget = count_roundings(recipe, bounds_of(info), problem, &steps);
  const json& worst = result["worst"];
  const std::string stage = text_in(result, "stage");
  const std::size_t pair = worst.is_null() ? 0 : worst["pair"].get<std::size_t>();
  const json &local = result["limit"]["local"], &total = result["limit"]["total"];
  if (!worst.is_null() && !local.is_null() && !total.is_null()) {
    const LimitPlace at{stage, worst["position"].get<std::int64_t>(), pair, number_in(local["value"]),
                        number_in(total["value"])};
    fmt::print("\nlimit of {} with its numbers, at position {} pair {} (u = 2^-24)\n{}", stage, at.position, pair,
               limit_text(budget, problem.rope, at));
  }
  fmt::print("\nroundings of {} up to {}, pair {}; the bound that each step leaves (u = 2^-24)\n{}", claims, stage,
             pair, steps_text(budget, steps, stage, pair));
}

// The case is run again for each subject, and what is known of its tensors said.
void print_causes(const json& result, const Case& problem) {
  SubjectPool pool;
  set_cpu_threads(1);
  for (const json& subject : result["subjects"]) {
    const std::string name = text_in(subject, "name");
    for (const SubjectSpec& spec : problem.subjects) {
      if (spec.name != name) continue;
      fmt::print("\n{}, run again\n", name);
      try {
        const std::string claims = text_in(subject, "claims").empty() ? kPlainClaim : text_in(subject, "claims");
        fmt::print("{}", causes_text(investigate(dump_of_subject(spec, problem, pool), claims)));
      } catch (const SubjectError& e) {
        fmt::print("  not possible: {}\n", e.what());
      } catch (const Refused& e) {
        fmt::print("  not possible: {}\n", e.what());
      }
    }
  }
}

int explain(const std::string& file, const std::string& id) {
  const json report = read_report(file);
  const json result = find_result(file, report, id);
  fmt::print("{}\n{}, expected {}{}\n", text_in(result, "id"), text_in(result, "verdict"), text_in(result, "expected"),
             text_in(result, "first_stage").empty() ? "" : "; first off at " + text_in(result, "first_stage"));
  if (const std::string reason = text_in(result, "reason"); !reason.empty()) fmt::print("{}\n", reason);
  if (!result["error"].is_null()) print_error(result);
  print_limit("local", result["limit"]["local"]);
  print_limit("total", result["limit"]["total"]);
  if (!result["margin"].is_null()) fmt::print("margin: {} of the limit\n", decimal(number_in(result["margin"])));
  if (const json& closer = result["closer"]; !closer.is_null())
    fmt::print("closer to exact: {} (off by at most {} and {})\n", text_in(closer, "subject"),
               short_number(number_in(closer["max_abs"][0])), short_number(number_in(closer["max_abs"][1])));
  const std::optional<Case> problem = case_of(result);
  if (!problem)
    fmt::print(
        "\nthe case file of this report is not here, or no longer has this case: its roundings and causes need it\n");
  const bool table = problem && problem->kind() == Kind::table;
  if (table && text_in(result, "relation") == "accuracy") print_roundings(result, call_of(result, *problem));
  if (table && problem->state) fmt::print("\ncauses are not looked for in calls one after another\n");
  if (table && !problem->state && text_in(result, "verdict") == "fail") print_causes(result, *problem);
  fmt::print("\nagain: {}\n", text_in(result, "rerun"));
  return kAsExpected;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("explain", "One result of a report: its limit, the roundings, likely causes");
  auto what = std::make_shared<std::pair<std::string, std::string>>();
  command->add_option("REPORT", what->first, "The report")->required();
  command->add_option("ID", what->second, "The result's id, or a part of it that no other has")->required();
  command->callback([=, &action] { action = [=] { return explain(what->first, what->second); }; });
}

}  // namespace ropewalk
