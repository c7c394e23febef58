#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 4> kRelations{"accuracy", "identity", "invariants", "equivalence"};
constexpr std::array<std::string_view, 2> kUnits{"abs", "ulp"};

void no_duplicates(const std::vector<std::string>& earlier, const std::string& next, const Field& field) {
  if (std::find(earlier.begin(), earlier.end(), next) != earlier.end()) field.refuse("each one once");
}

// What is compared unless the case says otherwise.
std::vector<std::string> default_stages(Kind kind, Relation relation) {
  if (kind == Kind::table && takes_two(relation)) return {"cos", "sin"};
  if (kind == Kind::attention) return {"rotated_q", "rotated_k"};
  if (kind == Kind::lora && takes_two(relation)) return {"lora_padded", "output"};
  return {stages_of(kind).begin(), stages_of(kind).end()};
}

std::vector<std::string> read_stages(const Object& check, Kind kind, Relation relation) {
  const auto field = check.find("stages");
  if (!field) return default_stages(kind, relation);
  std::vector<std::string> stages;
  for (const Field& item : field->items()) {
    const std::string stage(stages_of(kind)[item.choice(stages_of(kind))]);
    no_duplicates(stages, stage, item);
    stages.push_back(stage);
  }
  return stages;
}

std::vector<std::string> read_subject_names(const Field& list, const std::vector<SubjectSpec>& subjects) {
  std::vector<std::string_view> known;
  known.reserve(subjects.size());
  for (const SubjectSpec& subject : subjects) known.push_back(subject.name);
  std::vector<std::string> names;
  for (const Field& item : list.items()) {
    const std::string name(known[item.choice(known)]);
    no_duplicates(names, name, item);
    names.push_back(name);
  }
  return names;
}

void read_who(const Object& object, const Surroundings& around, CheckSpec& check) {
  const auto& subjects = around.subjects;
  const bool two = takes_two(check.relation);
  if (const auto field = object.find("subjects")) {
    if (two) field->refuse("identity and equivalence take \"between\" with two subjects instead");
    check.subjects = read_subject_names(*field, subjects);
  }
  for (const char* name : {"between", "cost"})
    if (!two && object.has(name)) object.need(name).refuse("this goes with relations identity and equivalence only");
  if (!two) return;
  check.between = read_subject_names(object.need("between"), subjects);
  if (check.between.size() != 2) object.need("between").refuse("two subjects are needed");
  const auto cost = object.find("cost");
  if (cost && around.kind == Kind::table) cost->refuse("this goes with attention and lora blocks only");
  if (cost) check.cost = cost->flag();
}

UserLimit read_limit(const Field& field) {
  const Object object(field, {"value", "unit", "source"});
  UserLimit limit;
  limit.value = object.need("value").number();
  if (limit.value < 0) object.need("value").refuse("a number of at least 0 is needed");
  limit.unit = std::string(kUnits[object.need("unit").choice(kUnits)]);
  limit.source = object.need("source").text();
  return limit;
}

CheckSpec read_check(const Field& field, const Surroundings& around) {
  const Object object(field, {"note", "relation", "stages", "between", "subjects", "cost", "expect", "allow_skip",
                              "limit", "accepted"});
  if (const auto note = object.find("note")) note->text();
  CheckSpec check;
  check.relation = static_cast<Relation>(object.need("relation").choice(kRelations));
  if (check.relation == Relation::equivalence && around.kind == Kind::table)
    object.need("relation").refuse("of tables one of accuracy, identity, invariants");
  check.stages = read_stages(object, around.kind, check.relation);
  check.default_stages = !object.has("stages");
  read_who(object, around, check);
  if (const auto reasons = object.find("allow_skip"))
    for (const Field& reason : reasons->items()) check.allow_skip.push_back(reason.text());
  if (const auto limit = object.find("limit")) {
    if (check.relation != Relation::accuracy) limit->refuse("this goes with relation accuracy only");
    check.limit = read_limit(*limit);
  }
  const auto expect = object.find("expect");
  if (const auto accepted = object.find("accepted")) {
    if (expect) accepted->refuse("this takes the place of expect");
    check.accepted = (std::filesystem::path(field.file()).parent_path() / accepted->text()).lexically_normal();
  }
  if (!expect) return check;
  check.expect = read_expectations(*expect, check, around);
  const bool bare = !expect->json().is_array();
  if (bare && check.expect.front().verdict == Verdict::fail) {
    check.expect_any_fail = true;
    check.any_first_stage = check.expect.front().first_stage;
    check.expect.clear();
  }
  return check;
}

// What an id of one of its results holds after the dtype.
std::vector<std::string> result_ids(const CheckSpec& check, const std::vector<SubjectSpec>& subjects) {
  std::vector<std::string> who = check.subjects;
  if (takes_two(check.relation)) who = {check.between[0] + "~" + check.between[1]};
  if (who.empty())
    for (const SubjectSpec& subject : subjects) who.push_back(subject.name);
  std::vector<std::string> ids;
  for (const std::string& subject : who)
    for (const std::string& stage : check.stages)
      ids.push_back(fmt::format("{}/{}/{}", name_of(check.relation), subject, stage));
  return ids;
}

}  // namespace

std::vector<CheckSpec> read_checks(const Field& list, const Surroundings& around) {
  std::vector<CheckSpec> checks;
  std::set<std::string> seen;
  for (const Field& field : list.items()) {
    checks.push_back(read_check(field, around));
    for (const std::string& id : result_ids(checks.back(), around.subjects))
      if (!seen.insert(id).second) field.refuse(id, "an earlier check has this id; ids are unique");
  }
  return checks;
}

}  // namespace ropewalk
