#include <fmt/format.h>

#include <algorithm>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 5> kVerdicts{"pass", "fail", "untrusted", "skipped", "error"};

Verdict read_verdict(const Field& field) { return static_cast<Verdict>(field.choice(kVerdicts)); }

void read_first_stage(const Object& object, Kind kind, Expectation& out) {
  const auto field = object.find("first_stage");
  if (!field) return;
  if (out.verdict != Verdict::fail) field->refuse("this goes with verdict fail only");
  out.first_stage = std::string(stages_of(kind)[field->choice(stages_of(kind))]);
}

bool looks_at(const CheckSpec& check, const std::string& subject) {
  const auto& names = takes_two(check.relation) ? check.between : check.subjects;
  return names.empty() || std::find(names.begin(), names.end(), subject) != names.end();
}

// That the models of a model_config have in their ids.
std::vector<std::string> layer_types(const Surroundings& around) {
  std::vector<std::string> out;
  for (const Axis& axis : around.axes)
    for (const Axis::Value& value : axis.values)
      if (value.model && !value.model->layer.type.empty()) out.push_back(value.model->layer.type);
  return out;
}

// A `where` that can match nothing would turn an expectation off unnoticed, so its values must occur.
std::vector<std::string> values_of(const std::string& key, const CheckSpec& check, const Surroundings& around) {
  std::vector<std::string> out;
  if (key == "stage") return check.stages;
  if (key == "dtype")
    for (const DType dtype : around.dtypes) out.emplace_back(name_of(dtype));
  if (key == "layer_type") return layer_types(around);
  for (const SubjectSpec& subject : around.subjects) {
    if (!looks_at(check, subject.name)) continue;
    if (key == "subject") out.push_back(subject.name);
    if (key == "device" && !subject.device.empty()) out.push_back(subject.device);
    if (key == "recipe" && !subject.recipe.empty()) out.push_back(subject.recipe);
  }
  return out;
}

nlohmann::json where_value(const std::string& key, const Field& field, const CheckSpec& check,
                           const Surroundings& around) {
  const auto axis = std::find_if(around.axes.begin(), around.axes.end(), [&](const Axis& a) { return a.name == key; });
  if (axis == around.axes.end()) {
    const auto values = values_of(key, check, around);
    if (values.empty()) field.refuse("no subject of this check has a " + key);
    const std::vector<std::string_view> known(values.begin(), values.end());
    return values[field.choice(known)];
  }
  const Json value = field.json().is_number() ? plain_json(field.number()) : field.json();
  if (axis->takes(value)) return value;
  std::vector<std::string> accepted;
  for (const Axis::Value& v : axis->values)
    if (const std::string text = v.param.dump(); std::find(accepted.begin(), accepted.end(), text) == accepted.end())
      accepted.push_back(text);  // a model has an entry for each of its kinds of layer
  field.refuse("one of " + joined(accepted));
}

nlohmann::json read_where(const Field& field, const CheckSpec& check, const Surroundings& around) {
  std::vector<std::string> keys;
  for (const Axis& axis : around.axes) keys.push_back(axis.name);
  for (const char* key : {"dtype", "stage", "subject", "device", "recipe"}) keys.emplace_back(key);
  if (!layer_types(around).empty()) keys.emplace_back("layer_type");
  nlohmann::json where = nlohmann::json::object();
  for (const auto& [key, value] : Object(field, keys).members()) {
    const bool flags = value.json().is_array() && !value.json().empty() && value.json()[0].is_boolean();
    if (!value.json().is_array() || flags) {
      where[key] = where_value(key, value, check, around);
      continue;
    }
    for (const Field& item : value.items()) where[key].push_back(where_value(key, item, check, around));
  }
  return where;
}

}  // namespace

std::vector<Expectation> read_expectations(const Field& field, const CheckSpec& check, const Surroundings& around) {
  std::vector<Expectation> out;
  if (field.json().is_array()) {
    for (const Field& item : field.items()) {
      const Object object(item, {"where", "verdict", "first_stage"});
      Expectation expectation{
          read_where(object.need("where"), check, around), read_verdict(object.need("verdict")), {}};
      read_first_stage(object, around.kind, expectation);
      out.push_back(std::move(expectation));
    }
    return out;
  }
  Expectation expectation;
  if (field.json().is_object()) {
    const Object object(field, {"verdict", "first_stage"});
    expectation.verdict = read_verdict(object.need("verdict"));
    read_first_stage(object, around.kind, expectation);
  } else {
    expectation.verdict = read_verdict(field);
  }
  return {expectation};
}

}  // namespace ropewalk
