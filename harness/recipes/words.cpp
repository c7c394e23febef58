#include "harness/recipes/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/devices/device.hpp"

namespace ropewalk {
namespace {

using Value = double (*)(const Case&);
struct Parameter {
  std::string_view name;
  Value value;
};

constexpr double number(std::int64_t n) { return static_cast<double>(n); }

constexpr std::array<Parameter, 3> kTable{{
    {"rotary_dim", [](const Case& c) { return number(c.rope.rotary_dim()); }},
    {"head_dim", [](const Case& c) { return number(c.rope.head_dim); }},
    {"base", [](const Case& c) { return c.rope.base; }},
}};

double scale(const Case& c) {
  return c.attention->scale == 0 ? 1 / std::sqrt(number(c.rope.head_dim)) : c.attention->scale;
}

constexpr std::array<Parameter, 19> kAttention{{
    kTable[0],
    kTable[1],
    kTable[2],
    {"pairs", [](const Case& c) { return number(c.rope.rotary_dim() / 2); }},
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
constexpr std::array<std::string_view, 10> kAttentionInputs{
    "q", "k", "v", "grad_rotated_q", "grad_rotated_k", "mask", "allowed", "alibi", "sinks", "grad_output"};
constexpr std::array<std::string_view, 6> kLoraInputs{"x", "weight", "bias", "lora_a", "lora_b", "grad_output"};
struct Condition {
  std::string_view name;
  bool (*holds)(const Lora&);
};
std::size_t count(const Lora& lora) { return lora.part_sizes().size(); }
constexpr std::array<Condition, 9> kConditions{{
    {"all_enabled", [](const Lora& l) { return count(l) == 3; }},
    {"not_all_enabled", [](const Lora& l) { return count(l) < 3; }},
    {"some_enabled", [](const Lora& l) { return count(l) == 1 || count(l) == 2; }},
    {"any_enabled", [](const Lora& l) { return count(l) > 0; }},
    {"none_enabled", [](const Lora& l) { return count(l) == 0; }},
    {"equal_parts", [](const Lora& l) { return count(l) > 0 && l.heads == l.groups; }},
    {"unequal_parts", [](const Lora& l) { return count(l) > 0 && l.heads != l.groups; }},
    {"with_bias", [](const Lora& l) { return l.bias; }},
    {"without_bias", [](const Lora& l) { return !l.bias; }},
}};
constexpr auto kConditionNames = [] {
  std::array<std::string_view, kConditions.size()> out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kConditions[i].name;
  return out;
}();

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
  if (kind == Kind::table) return {};
  if (kind == Kind::attention) return kAttentionInputs;
  return kLoraInputs;
}

std::span<const std::string_view> conditions() { return kConditionNames; }

double parameter(const std::string& name, const Case& problem) {
  for (const Parameter& known : table_of(problem.kind()))
    if (known.name == name) return known.value(problem);
  throw Refused("the recipe names " + name + ", which is neither an earlier result nor a parameter");
}

bool holds(const std::string& condition, const Case& problem) {
  if (condition.empty()) return true;
  const auto found = std::find_if(kConditions.begin(), kConditions.end(),
                                  [&](const Condition& known) { return known.name == condition; });
  return found->holds(*problem.lora);
}

}  // namespace ropewalk
