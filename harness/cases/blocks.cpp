// The fields of the blocks attention and lora.
#include <fmt/format.h>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargestSize = 1 << 20;
constexpr std::array<std::string_view, 4> kCausal{"none", "top_left", "bottom_right", "offset"};
constexpr std::array<std::string_view, 3> kMasks{"none", "additive", "boolean"};
constexpr std::array<std::string_view, 2> kBackward{"rotation", "attention"};
constexpr std::array<std::string_view, 2> kPairings{"half_split", "interleaved"};
constexpr std::array<std::string_view, 3> kFullyMasked{"zero", "nan", "mean"};
constexpr std::array<std::string_view, 3> kScales{"alpha/r", "alpha/sqrt(r)", "alpha"};
constexpr std::array<std::string_view, 2> kLayouts{"contiguous", "grouped"};
constexpr std::array<std::string_view, 2> kLoraInputs{"normal", "ones"};
constexpr std::array<std::string_view, 10> kAttentionInputs{"normal",       "peaked",      "unit",    "equal_keys",
                                                            "zero_queries", "log_uniform", "visible", "same_rows",
                                                            "all_64",       "opposed"};

Axis::Value size(const Field& field) {
  const std::int64_t n = field.whole();
  if (n < 1 || n > kLargestSize) field.refuse(fmt::format("a whole number from 1 to {} is needed", kLargestSize));
  return {n, {}, field};
}

Axis::Value size_or_none(const Field& field) {
  const std::int64_t n = field.whole();
  if (n < 0 || n > kLargestSize)
    field.refuse(fmt::format("a whole number from 1 to {}, or 0 for none, is needed", kLargestSize));
  return {n, {}, field};
}

Axis::Value row(const Field& field) {
  const std::int64_t n = field.whole();
  if (n < 0 || n > kLargestSize) field.refuse(fmt::format("a whole number from 0 to {} is needed", kLargestSize));
  return {n, {}, field};
}

Axis::Value flag(const Field& field) { return {field.flag(), {}, field}; }

Axis::Value number(const Field& field) { return {plain_json(field.number()), {}, field}; }

Axis::Value not_negative(const Field& field) {
  if (field.number() < 0) field.refuse("a number above 0, or 0 for none, is needed");
  return number(field);
}

Axis::Value enable(const Field& field) {
  if (!field.json().is_array() || field.json().size() != 3) field.refuse("three flags are needed: for q, k and v");
  for (const Field& flag : field.items()) flag.flag();
  return {field.json(), {}, field};
}

template <const auto& words>
Axis::Value word(const Field& field) {
  return {std::string(words[field.choice(words)]), {}, field};
}

template <auto block, auto member>
void set(GridPoint& point, const Axis::Value& value) {
  auto& target = point.*block.*member;
  value.param.get_to(target);
}

template <auto member>
constexpr auto of_attention = set<&GridPoint::attention, member>;
template <auto member>
constexpr auto of_lora = set<&GridPoint::lora, member>;

constexpr std::array<FieldRule, 17> kAttention{{
    {"heads", true, size, of_attention<&Attention::heads>},
    {"kv_heads", true, size, of_attention<&Attention::kv_heads>},
    {"batch", false, size, of_attention<&Attention::batch>},
    {"pairing", false, word<kPairings>, of_attention<&Attention::pairing>},
    {"q_len", false, size, of_attention<&Attention::q_len>},
    {"offset", false, row, of_attention<&Attention::offset>},
    {"causal", false, word<kCausal>, of_attention<&Attention::causal>},
    {"window", false, size_or_none, of_attention<&Attention::window>},
    {"padding", false, size_or_none, of_attention<&Attention::padding>},
    {"mask", false, word<kMasks>, of_attention<&Attention::mask>},
    {"alibi", false, flag, of_attention<&Attention::alibi>},
    {"sinks", false, flag, of_attention<&Attention::sinks>},
    {"scale", false, not_negative, of_attention<&Attention::scale>},
    {"softcap", false, not_negative, of_attention<&Attention::softcap>},
    {"fully_masked", false, word<kFullyMasked>, of_attention<&Attention::fully_masked>},
    {"backward", false, word<kBackward>, of_attention<&Attention::backward>},
    {"inputs", false, word<kAttentionInputs>, of_attention<&Attention::inputs>},
}};

constexpr std::array<FieldRule, 13> kLora{{
    {"heads", true, size, of_lora<&Lora::heads>},
    {"groups", true, size, of_lora<&Lora::groups>},
    {"head_dim", true, size, of_lora<&Lora::head_dim>},
    {"embedding", true, size, of_lora<&Lora::embedding>},
    {"r", true, size, of_lora<&Lora::r>},
    {"alpha", true, number, of_lora<&Lora::alpha>},
    {"scale", false, word<kScales>, of_lora<&Lora::scale>},
    {"enable", true, enable, of_lora<&Lora::enable>},
    {"layout", false, word<kLayouts>, of_lora<&Lora::layout>},
    {"bias", false, flag, of_lora<&Lora::bias>},
    {"batch", false, size, of_lora<&Lora::batch>},
    {"seq", false, size, of_lora<&Lora::seq>},
    {"inputs", false, word<kLoraInputs>, of_lora<&Lora::inputs>},
}};

}  // namespace

std::span<const FieldRule> attention_rules() { return kAttention; }
std::span<const FieldRule> lora_rules() { return kLora; }

}  // namespace ropewalk
