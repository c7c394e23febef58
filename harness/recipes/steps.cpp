#include "harness/recipes/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/recipes/ops.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 3> kPlaces{"device", "cpu", "meta"};
constexpr std::array<std::string_view, 7> kStepDTypes{"float64", "float32", "bfloat16",  "float16",
                                                      "int64",   "int32",   "activation"};

bool among(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const OpInfo& read_op(const Field& field) {
  std::vector<std::string_view> names;
  names.reserve(kOps.size());
  for (const OpInfo& info : kOps) names.push_back(info.name);
  return kOps.at(field.choice(names));
}

std::vector<Operand> read_operands(const Object& object, const OpInfo& info) {
  const auto field = object.find("in");
  std::vector<Operand> out;
  if (field) {
    for (const Field& item : field->items()) {
      if (item.json().is_number())
        out.emplace_back(item.number());
      else
        out.emplace_back(item.name());
    }
  } else if (info.operands != 0) {
    out.emplace_back("previous");
  }
  if (out.size() < info.operands || (out.size() > info.operands && !info.more))
    (field ? *field : object.field())
        .refuse(fmt::format("{} takes {}{} operands", info.name, info.operands, info.more ? " or more" : ""));
  return out;
}

std::string read_dtype(const Object& object, const OpInfo& info, Kind kind) {
  if (!info.takes_dtype) {
    if (const auto field = object.find("dtype"))
      field->refuse("only positions, arange, scalar, cast, mask_outside, softmax, zeros and empty take a dtype");
    return {};
  }
  const Field field = object.need("dtype");
  std::vector<std::string_view> accepted(kStepDTypes.begin(), kStepDTypes.end());
  accepted.insert(accepted.end(), stages_of(kind).begin(), stages_of(kind).end());
  return std::string(accepted[field.choice(accepted)]);
}

bool is_tensor(const Operand& operand, Kind kind) {
  const auto* name = std::get_if<std::string>(&operand);
  return name && !among(parameters_of(kind), *name);
}

// Which operands are tensors and which are numbers or parameters.
void check_kinds(const Step& step, const Field& field, Kind kind) {
  const auto refuse = [&](const std::string& why) { field.inside("in", field.json()["in"]).refuse(why); };
  const auto tensors =
      std::count_if(step.in.begin(), step.in.end(), [&](const Operand& operand) { return is_tensor(operand, kind); });
  if (step.op == Op::arange && tensors != 0) refuse("start, end and step are numbers or parameters");
  if (step.op == Op::scalar && tensors != 0) refuse("a number or a parameter is needed");
  const bool none_needed = step.op == Op::arange || step.op == Op::scalar || step.op == Op::positions ||
                           step.op == Op::zeros || step.op == Op::empty || step.op == Op::segment_rows ||
                           step.in.empty();
  if (none_needed) return;
  if (tensors == 0) refuse("an earlier result is needed among the operands");
  if (step.op != Op::keep_bits) return;
  const auto* bits = std::get_if<double>(&step.in[1]);
  if (!bits || *bits < 1 || *bits > 24 || *bits != static_cast<int>(*bits))
    field.inside("in[1]", field.json()["in"][1]).refuse("a number of bits from 1 to 24 is needed");
}

Step read_step(const Field& field, Place place, Kind kind) {
  const Object object(field, {"op", "in", "dtype", "as", "at", "when"});
  const OpInfo& info = read_op(object.need("op"));
  Step step;
  step.op = info.op;
  step.in = read_operands(object, info);
  step.dtype = read_dtype(object, info, kind);
  step.place = object.has("at") ? read_place(object.need("at")) : place;
  if (const auto as = object.find("as")) {
    step.as = as->name();
    if (step.as == "previous" || among(parameters_of(kind), step.as) || among(kStepDTypes, step.as) ||
        among(stages_of(kind), step.as) || among(inputs_of(kind), step.as))
      as->refuse("a name that is no stage, parameter or dtype, and not \"previous\"");
  }
  if (const auto when = object.find("when")) {
    step.when = std::string(conditions_of(kind)[when->choice(conditions_of(kind))]);
  }
  check_kinds(step, field, kind);
  return step;
}

// Follows the names through one stage.
class Names {
 public:
  Names(const Field& stages, Kind kind) : stages_(stages), kind_(kind) {
    results_.insert(inputs_of(kind).begin(), inputs_of(kind).end());
  }

  void run(const StageSteps& stage) {
    for (std::size_t i = 0; i < stage.steps.size(); ++i) {
      const Step& step = stage.steps[i];
      const std::string path = fmt::format("{}.{}[{}]", stages_.path(), stage.stage, i);
      for (std::size_t k = 0; k < step.in.size(); ++k)
        if (const auto* name = std::get_if<std::string>(&step.in[k]))
          use(*name, i == 0, fmt::format("{}.in[{}]", path, k));
      if (among(stages_of(kind_), step.dtype) && !results_.contains(step.dtype))
        throw BadInput(stages_.file(), path + ".dtype", step.dtype,
                       "this stage runs later; a stage before this one is needed");
      if (!step.as.empty() && !results_.insert(step.as).second)
        throw BadInput(stages_.file(), path + ".as", step.as, "an earlier step has this name; names are unique");
    }
    results_.insert(stage.stage);
  }

 private:
  void use(const std::string& name, bool first, const std::string& path) const {
    if (name == "previous" && first)
      throw BadInput(stages_.file(), path, name, "a stage's first step has no step before it; name its operand");
    const auto parameters = parameters_of(kind_);
    if (name == "previous" || among(parameters, name) || results_.contains(name)) return;
    std::vector<std::string> known(results_.begin(), results_.end());
    known.insert(known.begin(), "previous");
    known.insert(known.end(), parameters.begin(), parameters.end());
    const std::string why = among(stages_of(kind_), name) ? "this stage runs later; " : "unknown operand; ";
    throw BadInput(stages_.file(), path, name,
                   why + "defined here are " + joined(known) + " and numbers" + did_you_mean(name, known));
  }

  const Field& stages_;
  Kind kind_;
  std::set<std::string> results_;
};

}  // namespace

Place read_place(const Field& field) { return static_cast<Place>(field.choice(kPlaces)); }

std::vector<StageSteps> read_stages(const Field& field, Place place, Kind kind) {
  std::vector<StageSteps> out;
  const Object stages(field, {stages_of(kind).begin(), stages_of(kind).end()});
  for (const auto& [name, value] : stages.members()) {
    StageSteps stage{name, {}};
    if (value.json().is_object()) {
      const Object object(value, {"at", "steps"});
      const Place here = object.has("at") ? read_place(object.need("at")) : place;
      for (const Field& step : object.need("steps").items()) stage.steps.push_back(read_step(step, here, kind));
    } else {
      for (const Field& step : value.items()) stage.steps.push_back(read_step(step, place, kind));
    }
    out.push_back(std::move(stage));
  }
  if (out.empty()) field.refuse("at least one stage is needed");
  return out;
}

void check_stages(const Recipe& recipe, const Field& stages) {
  if (recipe.kind != Kind::lora)  // whatever comes after it, a table is whole
    for (const std::string_view name : stages_of(Kind::table))
      if (!recipe.stage(std::string(name)))
        throw BadInput(stages.file(), stages.path() + "." + std::string(name), "", "this stage is missing");
  Names names(stages, recipe.kind);
  for (const StageSteps& stage : recipe.stages) names.run(stage);
}

}  // namespace ropewalk
