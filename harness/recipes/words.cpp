#include "harness/recipes/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "harness/devices/device.hpp"
#include "harness/recipes/axis_lists.hpp"
#include "harness/recipes/scaling_words.hpp"

namespace ropewalk {
namespace {

using namespace scaling_words;  // NOLINT(google-build-using-namespace): the words are all that this file is about
using reference::Scaling;
using Value = double (*)(const Case&);
struct Parameter {
  std::string_view name;
  Value value;
};

constexpr double number(std::int64_t n) { return static_cast<double>(n); }

const reference::Scaling& scaling(const Case& c) { return c.rope.scaling; }

// Of the width, if not all of it turns.
double turning_width(const Case& c) {
  const double width = number(c.rope.rotary_dim());
  const bool proportional = scaling(c).type == Scaling::Type::proportional;
  return proportional ? 2 * std::floor(std::floor(scaling(c).proportion * width) / 2) : width;
}

constexpr std::array<Parameter, 37> kTable{{
    {"rotary_dim", [](const Case& c) { return number(c.rope.rotary_dim()); }},
    {"head_dim", [](const Case& c) { return number(c.rope.head_dim); }},
    {"base", [](const Case& c) { return c.rope.base; }},
    {"pairs", [](const Case& c) { return number(c.rope.rotary_dim() / 2); }},
    {"axes_times_pairs", [](const Case& c) { return number(c.rope.axes() * (c.rope.rotary_dim() / 2)); }},
    {"turning_width", turning_width},
    {"still_pairs", [](const Case& c) { return number(c.rope.rotary_dim() / 2) - turning_width(c) / 2; }},
    {"two_over_width", [](const Case& c) { return 2.0 / number(c.rope.rotary_dim()); }},
    {"minus_two_over_width", [](const Case& c) { return -2.0 / number(c.rope.rotary_dim()); }},
    {"minus_log_base_over_pairs",
     [](const Case& c) { return -std::log(c.rope.base) / number(c.rope.rotary_dim() / 2); }},
    {"factor", [](const Case& c) { return scaling(c).factor; }},
    {"factor_less_one", [](const Case& c) { return scaling(c).factor - 1; }},
    {"one_over_factor", [](const Case& c) { return 1 / scaling(c).factor; }},
    {"length", [](const Case& c) { return scaling(c).length; }},
    {"max_position_embeddings", [](const Case& c) { return scaling(c).max_position_embeddings; }},
    {"original_max_position_embeddings", [](const Case& c) { return scaling(c).original_max_position_embeddings; }},
    {"dynamic_base", [](const Case& c) { return dynamic_base(c.rope); }},
    {"dynamic_exponent", [](const Case& c) { return number(c.rope.rotary_dim()) / (number(c.rope.rotary_dim()) - 2); }},
    {"yarn_low", [](const Case& c) { return yarn_ramp(c.rope).low; }},
    {"yarn_width", [](const Case& c) { return yarn_ramp(c.rope).width; }},
    {"yarn_low_truncated", [](const Case& c) { return yarn_ramp_truncated(c.rope).low; }},
    {"yarn_width_truncated", [](const Case& c) { return yarn_ramp_truncated(c.rope).width; }},
    {"yarn_low_of_maximum", [](const Case& c) { return yarn_ramp_of_maximum(c.rope).low; }},
    {"yarn_width_of_maximum", [](const Case& c) { return yarn_ramp_of_maximum(c.rope).width; }},
    {"yarn_low_within_pairs", [](const Case& c) { return yarn_ramp_within_pairs(c.rope).low; }},
    {"yarn_width_within_pairs", [](const Case& c) { return yarn_ramp_within_pairs(c.rope).width; }},
    {"attention_scaling", [](const Case& c) { return attention_scaling(c.rope); }},
    {"attention_scaling_4_43", [](const Case& c) { return attention_scaling_4_43(c.rope); }},
    {"attention_scaling_litgpt", [](const Case& c) { return attention_scaling_litgpt(c.rope); }},
    {"attention_scaling_default", [](const Case& c) { return attention_scaling_default(c.rope); }},
    {"attention_scaling_logged_twice", [](const Case& c) { return attention_scaling_logged_twice(c.rope); }},
    {"two_pi", [](const Case&) { return 2 * std::numbers::pi; }},
    {"low_freq_factor", [](const Case& c) { return scaling(c).low_freq_factor; }},
    {"high_freq_factor", [](const Case& c) { return scaling(c).high_freq_factor; }},
    {"freq_factor_range", [](const Case& c) { return scaling(c).high_freq_factor - scaling(c).low_freq_factor; }},
    {"low_freq_wavelength",
     [](const Case& c) { return scaling(c).original_max_position_embeddings / scaling(c).low_freq_factor; }},
    {"high_freq_wavelength",
     [](const Case& c) { return scaling(c).original_max_position_embeddings / scaling(c).high_freq_factor; }},
}};

double scale(const Case& c) {
  return c.attention->scale == 0 ? 1 / std::sqrt(number(c.rope.head_dim)) : c.attention->scale;
}

constexpr std::array<Parameter, 15> kAttentionAlone{{
    {"batch", [](const Case& c) { return number(c.attention->batch); }},
    {"seq", [](const Case& c) { return number(c.positions.count()); }},
    {"heads", [](const Case& c) { return number(c.attention->heads); }},
    {"kv_heads", [](const Case& c) { return number(c.attention->kv_heads); }},
    {"heads_per_kv_head", [](const Case& c) { return number(c.attention->heads / c.attention->kv_heads); }},
    {"q_len", [](const Case& c) { return number(c.attention->queries(c.positions.count())); }},
    {"first_query", [](const Case& c) { return number(c.attention->first_query(c.positions.count())); }},
    {"end_query",
     [](const Case& c) {
       const std::int64_t keys = c.positions.count();
       return number(c.attention->first_query(keys) + c.attention->queries(keys));
     }},
    {"mask_shift", [](const Case& c) { return number(c.attention->shift(c.positions.count())); }},
    {"window", [](const Case& c) { return number(c.attention->window); }},
    {"padding", [](const Case& c) { return number(c.attention->padding); }},
    {"scale", scale},
    {"sqrt_scale", [](const Case& c) { return std::sqrt(scale(c)); }},
    {"sqrt_head_dim", [](const Case& c) { return std::sqrt(number(c.rope.head_dim)); }},
    {"softcap", [](const Case& c) { return c.attention->softcap; }},
}};

template <std::size_t n, std::size_t m>
constexpr std::array<Parameter, n + m> both(const std::array<Parameter, n>& a, const std::array<Parameter, m>& b) {
  std::array<Parameter, n + m> out{};
  std::copy(a.begin(), a.end(), out.begin());
  std::copy(b.begin(), b.end(), out.begin() + n);
  return out;
}
constexpr auto kAttention = both(kTable, kAttentionAlone);

double part(const Case& c, std::size_t i) {
  const auto sizes = c.lora->part_sizes();
  return i < sizes.size() ? number(sizes[i]) : 0;
}

constexpr std::array<Parameter, 22> kLora{{
    {"batch", [](const Case& c) { return number(c.lora->batch); }},
    {"seq", [](const Case& c) { return number(c.lora->seq); }},
    {"rows", [](const Case& c) { return number(c.lora->batch * c.lora->seq); }},
    {"embedding", [](const Case& c) { return number(c.lora->embedding); }},
    {"heads", [](const Case& c) { return number(c.lora->heads); }},
    {"groups", [](const Case& c) { return number(c.lora->groups); }},
    {"heads_per_group", [](const Case& c) { return number(c.lora->heads / c.lora->groups); }},
    {"head_dim", [](const Case& c) { return number(c.lora->head_dim); }},
    {"q_size", [](const Case& c) { return number(c.lora->q_size()); }},
    {"kv_size", [](const Case& c) { return number(c.lora->kv_size()); }},
    {"out_size", [](const Case& c) { return number(c.lora->out_size()); }},
    {"embedding_per_group_head",
     [](const Case& c) { return number(c.lora->embedding / (c.lora->heads / c.lora->groups)); }},
    {"enabled_size", [](const Case& c) { return number(c.lora->enabled_size()); }},
    {"parts", [](const Case& c) { return number(static_cast<std::int64_t>(c.lora->part_sizes().size())); }},
    {"part_0", [](const Case& c) { return part(c, 0); }},
    {"part_1", [](const Case& c) { return part(c, 1); }},
    {"part_2", [](const Case& c) { return part(c, 2); }},
    {"r", [](const Case& c) { return number(c.lora->r); }},
    {"alpha", [](const Case& c) { return c.lora->alpha; }},
    {"gamma", [](const Case& c) { return c.lora->gamma(); }},
    {"alpha_over_r", [](const Case& c) { return c.lora->alpha / number(c.lora->r); }},
    {"alpha_over_sqrt_r", [](const Case& c) { return c.lora->alpha / std::sqrt(number(c.lora->r)); }},
}};

template <std::size_t n>
constexpr std::array<std::string_view, n> names(const std::array<Parameter, n>& parameters) {
  std::array<std::string_view, n> out;
  for (std::size_t i = 0; i < n; ++i) out[i] = parameters[i].name;
  return out;
}

constexpr auto kTableNames = names(kTable);
constexpr auto kAttentionNames = names(kAttention);
constexpr auto kLoraNames = names(kLora);
constexpr std::array<std::string_view, 2> kFactorLists{"short_factor", "long_factor"};
constexpr auto kTableInputs = [] {
  std::array<std::string_view, kFactorLists.size() + kAxisLists.size()> out;
  std::copy(kAxisLists.begin(), kAxisLists.end(), std::copy(kFactorLists.begin(), kFactorLists.end(), out.begin()));
  return out;
}();
constexpr auto kAttentionInputs = [] {
  constexpr std::array<std::string_view, 10> kOwn{"q",    "k",       "v",     "grad_rotated_q", "grad_rotated_k",
                                                  "mask", "allowed", "alibi", "sinks",          "grad_output"};
  std::array<std::string_view, kOwn.size() + kTableInputs.size()> out;
  std::copy(kTableInputs.begin(), kTableInputs.end(), std::copy(kOwn.begin(), kOwn.end(), out.begin()));
  return out;
}();
constexpr std::array<std::string_view, 6> kLoraInputs{"x", "weight", "bias", "lora_a", "lora_b", "grad_output"};
struct Condition {
  std::string_view name;
  bool (*holds)(const Case&);
};

std::size_t enabled(const Case& c) { return c.lora->part_sizes().size(); }
bool equal_heads(const Case& c) { return c.lora->heads == c.lora->groups; }
constexpr std::array<Condition, 9> kLoraConditions{{
    {"all_enabled", [](const Case& c) { return enabled(c) == 3; }},
    {"not_all_enabled", [](const Case& c) { return enabled(c) < 3; }},
    {"some_enabled", [](const Case& c) { return enabled(c) == 1 || enabled(c) == 2; }},
    {"any_enabled", [](const Case& c) { return enabled(c) > 0; }},
    {"none_enabled", [](const Case& c) { return enabled(c) == 0; }},
    {"equal_parts", [](const Case& c) { return enabled(c) > 0 && equal_heads(c); }},
    {"unequal_parts", [](const Case& c) { return enabled(c) > 0 && !equal_heads(c); }},
    {"with_bias", [](const Case& c) { return c.lora->bias; }},
    {"without_bias", [](const Case& c) { return !c.lora->bias; }},
}};

template <Scaling::Type type>
bool is(const Case& c) {
  return scaling(c).type == type;
}
bool longrope(const Case& c, bool (*takes_long)(const Rope&), bool long_list) {
  return is<Scaling::Type::longrope>(c) && takes_long(c.rope) == long_list;
}
constexpr std::array<Condition, 13> kTableConditions{{
    {"linear", is<Scaling::Type::linear>},
    {"dynamic", is<Scaling::Type::dynamic>},
    {"yarn", is<Scaling::Type::yarn>},
    {"longrope", is<Scaling::Type::longrope>},
    {"llama3", is<Scaling::Type::llama3>},
    {"proportional", is<Scaling::Type::proportional>},
    {"dynamic_beyond_maximum",
     [](const Case& c) {
       return is<Scaling::Type::dynamic>(c) && scaling(c).length > scaling(c).max_position_embeddings;
     }},
    {"longrope_long", [](const Case& c) { return longrope(c, long_by_length, true); }},
    {"longrope_short", [](const Case& c) { return longrope(c, long_by_length, false); }},
    {"longrope_long_by_maximum", [](const Case& c) { return longrope(c, long_by_maximum, true); }},
    {"longrope_short_by_maximum", [](const Case& c) { return longrope(c, long_by_maximum, false); }},
    {"longrope_long_from_original", [](const Case& c) { return longrope(c, long_from_original, true); }},
    {"longrope_short_below_original", [](const Case& c) { return longrope(c, long_from_original, false); }},
}};

template <std::size_t n>
constexpr std::array<std::string_view, n> names(const std::array<Condition, n>& conditions) {
  std::array<std::string_view, n> out;
  for (std::size_t i = 0; i < n; ++i) out[i] = conditions[i].name;
  return out;
}
constexpr auto kLoraConditionNames = names(kLoraConditions);
constexpr auto kTableConditionNames = names(kTableConditions);

std::span<const Parameter> table_of(Kind kind) {
  if (kind == Kind::table) return kTable;
  if (kind == Kind::attention) return kAttention;
  return kLora;
}

}  // namespace

std::span<const std::string_view> parameters_of(Kind kind) {
  if (kind == Kind::table) return kTableNames;
  if (kind == Kind::attention) return kAttentionNames;
  return kLoraNames;
}

std::span<const std::string_view> inputs_of(Kind kind) {
  if (kind == Kind::table) return kTableInputs;
  if (kind == Kind::attention) return kAttentionInputs;
  return kLoraInputs;
}

std::span<const std::string_view> conditions_of(Kind kind) {
  if (kind == Kind::lora) return kLoraConditionNames;
  return kTableConditionNames;
}

double parameter(const std::string& name, const Case& problem) {
  for (const Parameter& known : table_of(problem.kind()))
    if (known.name == name) return known.value(problem);
  throw Refused("the recipe names " + name + ", which is neither an earlier result nor a parameter");
}

bool holds(const std::string& condition, const Case& problem) {
  if (condition.empty()) return true;
  const auto known = problem.kind() == Kind::lora ? std::span<const Condition>(kLoraConditions) : kTableConditions;
  return std::find_if(known.begin(), known.end(), [&](const Condition& c) { return c.name == condition; })
      ->holds(problem);
}

std::map<std::string, const std::vector<double>*> lists_of(const Case& problem) {
  std::map<std::string, const std::vector<double>*> out;
  if (problem.kind() == Kind::lora || scaling(problem).type != Scaling::Type::longrope) return out;
  out["short_factor"] = &scaling(problem).short_factor;
  out["long_factor"] = &scaling(problem).long_factor;
  return out;
}

void need_scaling(const Recipe& recipe, const Case& problem) {
  const Scaling::Type type = scaling(problem).type;
  if (problem.kind() == Kind::lora || type == Scaling::Type::none) return;
  if (std::find(recipe.scalings.begin(), recipe.scalings.end(), type) == recipe.scalings.end())
    throw Refused("the recipe " + recipe.name + " has no scaling of type " + std::string(name_of(type)));
}

void need_axes(const Recipe& recipe, const Case& problem) {
  const Rope& rope = problem.rope;
  const Axes needed = rope.axial                   ? Axes::axial
                      : rope.mrope_section.empty() ? Axes::one
                      : rope.mrope_interleaved     ? Axes::interleaved
                                                   : Axes::blocked;
  const bool of_text = problem.positions.axes.empty() && !rope.axial;
  if (recipe.axes == needed || (recipe.axes == Axes::one && of_text)) return;
  constexpr std::array<std::string_view, 4> kTakes{"positions of one axis", "sections one after the other",
                                                   "interleaved sections", "axial positions"};
  throw Refused("the recipe " + recipe.name + " takes " + std::string(kTakes[static_cast<std::size_t>(recipe.axes)]) +
                ", the case has " + std::string(kTakes[static_cast<std::size_t>(needed)]));
}

}  // namespace ropewalk
