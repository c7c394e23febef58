#include "harness/report/json.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "harness/report/numbers.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json seconds(double value) { return json_number(std::round(value * 1000) / 1000); }  // to the millisecond

Json pair_of(const double (&values)[2]) { return Json::array({json_number(values[0]), json_number(values[1])}); }

Json to_json(const SubjectInfo& subject) {
  Json out{{"name", subject.name}};
  const auto add = [&](const char* field, const std::string& value) {
    if (!value.empty()) out[field] = value;
  };
  add("recipe", subject.recipe);
  add("device", subject.device);
  add("program", subject.program);
  add("tensors", subject.tensors);
  add("recording", subject.recording);
  add("claims", subject.claims);
  add("variant", subject.variant);
  out["emulated"] = subject.emulated;
  if (subject.module_cast == ModuleCast::before_table) out["module_cast"] = true;
  if (subject.module_cast == ModuleCast::after_build) out["module_cast"] = "after_build";
  return out;
}

Json to_json(const std::vector<Band>& bands) {
  Json out = Json::array();
  for (const Band& band : bands)
    out.push_back({{"first", band.first}, {"last", band.last}, {"max_abs", json_number(band.max_abs)}});
  return out;
}

Json to_json(const Measured& m) {
  return {{"compared", m.compared},
          {"mismatched", m.mismatched},
          {"max_abs", json_number(m.max_abs)},
          {"max_ulp", json_number(m.max_ulp)},
          {"mean_abs", json_number(m.mean_abs)},
          {"mean_signed", json_number(m.mean_signed)},
          {"p99_abs", json_number(m.p99_abs)},
          {"nan", Json::array({m.nan[0], m.nan[1]})},
          {"inf", Json::array({m.inf[0], m.inf[1]})},
          {"by_position", to_json(m.by_position)},
          {"by_pair", to_json(m.by_pair)},
          {"undetermined", m.undetermined}};
}

Json to_json(const ErrorSize& size) {
  return {{"max_abs", json_number(size.max_abs)}, {"max_ulp", json_number(size.max_ulp)}};
}

Json to_json(const std::optional<AccuracyError>& error) {
  if (!error) return nullptr;
  return {{"local", to_json(error->local)}, {"inherited", to_json(error->inherited)}, {"total", to_json(error->total)}};
}

Json to_json(const std::optional<Limit>& limit) {
  if (!limit) return nullptr;
  return {{"value", json_number(limit->value)},
          {"unit", limit->unit},
          {"formula", limit->formula},
          {"source", limit->source}};
}

Json to_json(const std::optional<Closer>& closer) {
  if (!closer) return nullptr;
  return {{"subject", closer->subject}, {"max_abs", pair_of(closer->max_abs)}};
}

Json to_json(const std::optional<Worst>& worst) {
  if (!worst) return nullptr;
  Json out{{"index", Json::array({worst->row, worst->pair})},
           {"position", worst->position},
           {"pair", worst->pair},
           {"got", hex_float(worst->got)},
           {"expected", hex_float(worst->expected)},
           {"got_decimal", decimal(worst->got)},
           {"expected_decimal", decimal(worst->expected)}};
  if (worst->call >= 0) out.update({{"call", worst->call}, {"length", worst->length}});
  return out;
}

Json object_or_empty(const Json& tree) { return tree.is_null() ? Json::object() : with_spelled_numbers(tree); }

Json to_json(const Result& r) {
  Json subjects = Json::array();
  for (const SubjectInfo& subject : r.subjects) subjects.push_back(to_json(subject));
  return {{"id", r.id},
          {"relation", name_of(r.relation)},
          {"suite", r.suite},
          {"case", r.case_name},
          {"stage", r.stage},
          {"dtype", name_of(r.dtype)},
          {"stage_dtype", text_or_null(r.stage_dtype)},
          {"params", object_or_empty(r.params)},
          {"subjects", std::move(subjects)},
          {"measured", to_json(r.measured)},
          {"error", to_json(r.error)},
          {"limit", {{"local", to_json(r.local_limit)}, {"total", to_json(r.total_limit)}}},
          {"margin", r.margin ? json_number(*r.margin) : Json(nullptr)},
          {"verdict", name_of(r.verdict)},
          {"expected", name_of(r.expected)},
          {"unexpected", r.unexpected},
          {"reason", text_or_null(r.reason)},
          {"first_stage", text_or_null(r.first_stage)},
          {"closer", to_json(r.closer)},
          {"worst", to_json(r.worst)},
          {"details", object_or_empty(r.details)},
          {"rerun", r.rerun}};
}

Json to_json(const Environment& e) {
  return {{"cpu", e.cpu},
          {"isa", e.isa},
          {"threads", e.threads},
          {"torch", text_or_null(e.torch)},
          {"cuda", text_or_null(e.cuda)},
          {"gpu", text_or_null(e.gpu)},
          {"libm", e.libm},
          {"seed", e.seed},
          {"git", text_or_null(e.git)}};
}

Json no_counts() {
  return {{"checks", 0}, {"pass", 0}, {"fail", 0}, {"untrusted", 0}, {"skipped", 0}, {"error", 0}, {"unexpected", 0}};
}

void count(Json& counts, const Result& result) {
  const auto add_one = [&](std::string_view field) {
    Json& value = counts[std::string(field)];
    value = value.get<std::int64_t>() + 1;
  };
  add_one("checks");
  add_one(name_of(result.verdict));
  if (result.unexpected) add_one("unexpected");
}

Json summary_of(const Report& report) {
  Json all = no_counts(), by_case = Json::object();
  for (const Result& result : report.results) {
    count(all, result);
    count(by_case.emplace(result.suite + "/" + result.case_name, no_counts()).first.value(), result);
  }
  Json out{{"cases", report.cases}};
  out.update(all);
  out["seconds"] = seconds(report.seconds);
  out["seconds_subjects"] = seconds(report.seconds_subjects);
  out["seconds_reference"] = seconds(report.seconds_reference);
  out["seconds_checks"] = seconds(report.seconds_checks);
  const ProofCounts& proof = report.reference;
  out["reference"] = {{"fast", proof.fast},
                      {"fallback", proof.fallback},
                      {"exact", proof.exact},
                      {"midpoints", proof.midpoints},
                      {"undecided", proof.undecided}};
  out["by_case"] = std::move(by_case);
  return out;
}

bool always_kept(const Result& result) {
  return result.verdict != Verdict::pass || result.unexpected || result.relation == Relation::identity ||
         result.details.contains("cost");
}

// Of the passes that need not be kept, the one with the largest margin in each group.
std::set<const Result*> tightest(const std::vector<Result>& results) {
  using Group = std::tuple<std::string, std::string, Relation, std::string, DType, std::string>;
  std::map<Group, const Result*> best;
  for (const Result& r : results) {
    if (always_kept(r)) continue;
    const std::string subject = r.subjects.empty() ? "" : r.subjects.front().name;
    const auto [entry, is_new] = best.try_emplace({r.suite, r.case_name, r.relation, r.stage, r.dtype, subject}, &r);
    if (!is_new && r.margin.value_or(-1) > entry->second->margin.value_or(-1)) entry->second = &r;
  }
  std::set<const Result*> kept;
  for (const auto& [group, result] : best) kept.insert(result);
  return kept;
}

}  // namespace

nlohmann::ordered_json to_json(const Report& report, bool all_results) {
  Json results = Json::array(), passed = Json::object();
  const std::set<const Result*> tight = all_results ? std::set<const Result*>{} : tightest(report.results);
  for (const Result& result : report.results) {
    if (all_results || always_kept(result) || tight.contains(&result))
      results.push_back(to_json(result));
    else
      // Not passed[id]: an ordered object looks a key up by walking through all the others.
      passed.get_ref<Json::object_t&>().emplace_back(result.id, result.margin ? json_number(*result.margin) : nullptr);
  }
  Json out{{"schema_version", 1},           {"tool", {{"name", "ropewalk"}, {"version", ROPEWALK_VERSION}}},
           {"complete", report.complete},   {"environment", to_json(report.environment)},
           {"summary", summary_of(report)}, {"results", std::move(results)},
           {"passed", std::move(passed)}};
  if (!report.derived.is_null()) out["derived"] = report.derived;
  return out;
}

}  // namespace ropewalk
