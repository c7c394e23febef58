// The fields of a rope block that say how its frequencies are scaled.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

using reference::Scaling;

constexpr std::array<std::string_view, 7> kTypes{"none",     "linear", "dynamic",     "yarn",
                                                 "longrope", "llama3", "proportional"};

Axis::Value positive(const Field& field) {
  if (field.number() <= 0) field.refuse("a number above 0 is needed");
  return {plain_json(field.number()), {}, field};
}

Axis::Value share(const Field& field) {
  if (field.number() > 1) field.refuse("a number above 0, at most 1, is needed");
  return positive(field);
}

Axis::Value factors(const Field& field) {
  for (const Field& item : field.items()) positive(item);
  return {field.json(), {}, field};
}

Axis::Value flag(const Field& field) { return {field.flag(), {}, field}; }

template <auto member>
void set(GridPoint& point, const Axis::Value& value) {
  auto& target = point.rope.scaling.*member;
  target = value.param.get<std::remove_cvref_t<decltype(target)>>();
}
template <auto member>
void set_if(GridPoint& point, const Axis::Value& value) {
  point.rope.scaling.*member = value.param.get<double>();
}

constexpr std::array<FieldRule, 16> kRules{{
    {"scaling", false,
     [](const Field& field) {
       return Axis::Value{std::string(kTypes[field.choice(kTypes)]), {}, field};
     },
     [](GridPoint& p, const Axis::Value& v) {
       const auto at = std::find(kTypes.begin(), kTypes.end(), v.param.get<std::string>());
       p.rope.scaling.type = static_cast<Scaling::Type>(at - kTypes.begin());
     }},
    {"factor", false, positive, set<&Scaling::factor>},
    {"original_max_position_embeddings", false, positive, set<&Scaling::original_max_position_embeddings>},
    {"max_position_embeddings", false, positive, set<&Scaling::max_position_embeddings>},
    {"length", false, positive, set<&Scaling::length>},
    {"beta_fast", false, positive, set<&Scaling::beta_fast>},
    {"beta_slow", false, positive, set<&Scaling::beta_slow>},
    {"truncate", false, flag, set<&Scaling::truncate>},
    {"attention_factor", false, positive, set_if<&Scaling::attention_factor>},
    {"mscale", false, positive, set_if<&Scaling::mscale>},
    {"mscale_all_dim", false, positive, set_if<&Scaling::mscale_all_dim>},
    {"low_freq_factor", false, positive, set<&Scaling::low_freq_factor>},
    {"high_freq_factor", false, positive, set<&Scaling::high_freq_factor>},
    {"short_factor", false, factors, set<&Scaling::short_factor>},
    {"long_factor", false, factors, set<&Scaling::long_factor>},
    {"proportion", false, share, set<&Scaling::proportion>},
}};

const FieldRule& rule_named(std::string_view name) {
  return *std::find_if(kRules.begin(), kRules.end(), [&](const FieldRule& rule) { return rule.name == name; });
}

std::vector<std::string> names_in_block() {
  std::vector<std::string> names{"type"};
  for (const FieldRule& rule : kRules)
    if (rule.name != "scaling") names.emplace_back(rule.name);
  return names;
}

bool among(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::span<const FieldRule> scaling_rules() { return kRules; }

std::string_view name_of(Scaling::Type type) { return kTypes[static_cast<std::size_t>(type)]; }

ScalingFields scaling_fields(Scaling::Type type) {
  switch (type) {
    case Scaling::Type::none:
      return {};
    case Scaling::Type::linear:
      return {{"factor"}, {}};
    case Scaling::Type::dynamic:
      return {{"factor", "max_position_embeddings"}, {"length"}};
    case Scaling::Type::yarn:
      return {{"factor", "original_max_position_embeddings"},
              {"max_position_embeddings", "beta_fast", "beta_slow", "truncate", "attention_factor", "mscale",
               "mscale_all_dim"}};
    case Scaling::Type::longrope:
      return {{"short_factor", "long_factor", "original_max_position_embeddings"},
              {"max_position_embeddings", "factor", "length", "attention_factor"}};
    case Scaling::Type::llama3:
      return {{"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"}, {}};
    case Scaling::Type::proportional:
      return {{"proportion"}, {"factor"}};
  }
  return {};
}

bool ScalingFields::has(std::string_view name) const { return among(needed, name) || among(allowed, name); }

Scaling read_scaling_block(const Field& block) {
  GridPoint point;
  if (block.json().is_null()) return {};
  for (const auto& [name, field] : Object(block, names_in_block()).members()) {
    const bool left_out = field.json().is_null() || (field.json().is_number() && field.json() == 0);
    if (name == "type")
      point.rope.scaling.type = static_cast<Scaling::Type>(field.choice(kTypes));
    else if (!left_out)
      rule_named(name).set(point, rule_named(name).read(field));
  }
  return point.rope.scaling;
}

void check_scaling(const Rope& rope, const Field& block) {
  const Scaling& scaling = rope.scaling;
  const ScalingFields known = scaling_fields(scaling.type);
  for (const FieldRule& rule : kRules) {
    if (rule.name == "scaling") continue;
    const std::string name(rule.name);
    const bool written = block.json().contains(name);
    if (written && !known.has(name))
      block.at(name).refuse(fmt::format("this does not go with scaling {}", name_of(scaling.type)));
    if (!written && among(known.needed, name))
      throw BadInput(block.file(), block.path() + "." + name, "",
                     fmt::format("missing; scaling {} needs {}", name_of(scaling.type), fmt::join(known.needed, ", ")));
  }
  check_scaling_values(rope, block, "scaling");
}

void check_scaling_values(const Rope& rope, const Field& block, const std::string& type) {
  const Scaling& scaling = rope.scaling;
  const auto pairs = static_cast<std::size_t>(rope.rotary_dim() / 2);
  for (const auto& [name, list] :
       {std::pair{"short_factor", &scaling.short_factor}, {"long_factor", &scaling.long_factor}})
    if (!list->empty() && list->size() != pairs)
      block.at(name).refuse(fmt::format("{} numbers", list->size()),
                            fmt::format("one for each of the {} pairs is needed", pairs));
  if (scaling.type == Scaling::Type::llama3 && scaling.low_freq_factor > scaling.high_freq_factor)
    block.at("low_freq_factor").refuse("at most high_freq_factor is needed");
  if (scaling.type == Scaling::Type::none) return;
  try {
    frequencies_of(rope);
    amplitude_of(rope);
  } catch (const std::invalid_argument& not_defined) {
    block.at(type).refuse(not_defined.what());
  }
}

}  // namespace ropewalk
