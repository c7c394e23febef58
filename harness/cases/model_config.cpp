#include "harness/cases/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/bad_input.hpp"
#include "harness/cases/model_rope.hpp"

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 3> kLayerTypes{"full_attention", "sliding_attention", "chunked_attention"};

// Keys that bear on the rotation and that this folder reads or may pass over: which layers go without, say.
constexpr std::array<std::string_view, 12> kRopeKeys{
    "rope_theta",       "rope_scaling",    "rope_parameters",       "rope_local_base_freq",
    "rotary_emb_base",  "rotary_pct",      "partial_rotary_factor", "rotary_dim",
    "qk_rope_head_dim", "rope_interleave", "no_rope_layers",        "no_rope_layer_interval"};

void refuse_unknown_rope_keys(const Field& config) {
  for (const auto& [name, value] : config.json().items()) {
    const bool of_rope = name.find("rope") != std::string::npos || name.find("rotary") != std::string::npos;
    if (!value.is_null() && of_rope && std::find(kRopeKeys.begin(), kRopeKeys.end(), name) == kRopeKeys.end())
      config.inside(name, value)
          .refuse("not understood; what else says something of the rotation: " +
                  fmt::format("{}", fmt::join(kRopeKeys, ", ")));
  }
  if (const auto alibi = first_of(config, {"alibi"}); alibi && alibi->flag())
    alibi->refuse("a model without rotary embedding");
  if (const auto each = first_of(config, {"per_layer_config"})) each->refuse("not understood by this version");
}

std::int64_t count(const std::optional<Field>& field) {
  if (!field) return 0;
  if (field->whole() < 1) field->refuse("a whole number of at least 1 is needed");
  return field->whole();
}

// The block with the rope of all layers or of each kind: rope_parameters since transformers 5, rope_scaling before.
std::optional<Field> rope_block(const Field& config) {
  const auto now = first_of(config, {"rope_parameters"}), before = first_of(config, {"rope_scaling"});
  for (const auto& block : {now, before})
    if (block && !block->json().is_object()) block->refuse("an object or null is needed");
  if (now && before && now->json() != before->json())
    before->refuse("rope_parameters is there too, and says otherwise");
  return now ? now : before;
}

bool for_each_kind(const Field& block) {
  return std::any_of(block.json().begin(), block.json().end(), [](const Json& value) { return value.is_object(); });
}

void add(std::vector<std::string>& types, const std::string& type) {
  if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
}

bool slides(const Field& config) {
  const auto switched = first_of(config, {"use_sliding_window"});
  return first_of(config, {"sliding_window"}) && (!switched || switched->flag());
}

// The kinds of layers that there are; one without a name where all are alike.
std::vector<std::string> layer_types(const Field& config, const Family& family, const std::optional<Field>& block) {
  std::vector<std::string> types;
  if (block && for_each_kind(*block)) {
    for (const auto& [name, part] : block->json().items()) {
      if (!part.is_object() && !part.is_null()) block->inside(name, part).refuse("beside parts for each kind of layer");
      if (std::find(kLayerTypes.begin(), kLayerTypes.end(), name) == kLayerTypes.end())
        block->inside(name, part)
            .refuse(fmt::format("a kind of layer that is not understood; accepted: {}", fmt::join(kLayerTypes, ", ")));
      if (part.is_object()) add(types, name);
    }
    return types;
  }
  if (const auto listed = first_of(config, {"layer_types"})) {
    for (const Field& item : listed->items()) add(types, std::string(kLayerTypes[item.choice(kLayerTypes)]));
    std::erase(types, family.without_rope);
    if (types.empty()) listed->refuse("no layer of this model is rotated");
  } else if (family.local_theta > 0 || first_of(config, {"rope_local_base_freq"}) ||
             (family.sliding == Sliding::some && slides(config)) ||
             (family.sliding == Sliding::if_switched && first_of(config, {"use_sliding_window"}) && slides(config))) {
    types = {"full_attention", "sliding_attention"};
    std::erase(types, family.without_rope);
  } else {
    types = {""};
  }
  return types;
}

std::int64_t window_of(const Field& config, const Family& family, const std::string& type) {
  const bool here = type == "sliding_attention" || (type.empty() && family.sliding == Sliding::all);
  return here && slides(config) ? count(first_of(config, {"sliding_window"})) : 0;
}

void read_layers(const Field& config, const Family& family, ModelConfig& out) {
  const auto block = rope_block(config);
  const bool each = block && for_each_kind(*block);
  const bool two_bases = !each && (family.local_theta > 0 || first_of(config, {"rope_local_base_freq"}));
  for (const std::string& type : layer_types(config, family, block)) {
    const bool local = two_bases && type == "sliding_attention";
    const auto part = each ? first_of(*block, {type.c_str()}) : local ? std::nullopt : block;
    const ModelRope rope = read_model_rope(config, part, family, type, local);
    out.base_stated = out.base_stated && rope.base_stated;
    out.layers.push_back({type, rope.rope, window_of(config, family, type)});
  }
  if (out.layers.size() == 1) out.layers[0].type.clear();
}

std::int64_t kv_heads_of(const Field& config, const Family& family, std::int64_t heads) {
  const auto flagged = [&](const char* name, bool otherwise) {
    const auto field = first_of(config, {name});
    return field ? field->flag() : otherwise;
  };
  if (family.model_type == "falcon" && !flagged("new_decoder_architecture", false))
    return flagged("multi_query", true) ? 1 : heads;
  if (first_of(config, {"num_global_key_value_heads"})) return 0;  // another number for each kind of layer
  if (const auto stated = first_of(config, {"num_key_value_heads", "num_kv_heads"})) {
    const std::int64_t kv_heads = count(stated);
    if (heads > 0 && heads % kv_heads != 0) stated->refuse(fmt::format("a divisor of heads {} is needed", heads));
    return kv_heads;
  }
  const bool null = config.json().contains("num_key_value_heads");  // every class then takes as many as heads
  return null || family.as_many_kv_heads ? heads : 0;
}

// DeepSeek's: one over the root of the whole head, squared amplitude of YaRN included.
double scale_with_mscale(const Field& nope, const Rope& rope) {
  const auto& scaling = rope.scaling;
  const double width = static_cast<double>(nope.whole() + rope.head_dim);
  const double amplitude =
      scaling.mscale_all_dim && scaling.factor > 1 ? 0.1 * *scaling.mscale_all_dim * std::log(scaling.factor) + 1 : 1;
  return amplitude * amplitude / std::sqrt(width);
}

std::optional<double> softmax_scale_of(const Field& config, const Family& family, const ModelConfig& model) {
  const auto positive = [](const Field& field) {
    if (field.number() <= 0) field.refuse("a number above 0 is needed");
    return field.number();
  };
  if (const auto nope = first_of(config, {"qk_nope_head_dim"})) return scale_with_mscale(*nope, model.layers[0].rope);
  if (const auto scalar = first_of(config, {"query_pre_attn_scalar"})) return 1 / std::sqrt(positive(*scalar));
  if (const auto multiplier = first_of(config, {"attention_multiplier"})) return positive(*multiplier);
  if (family.softmax_scale > 0) return family.softmax_scale;
  if (family.model_type.empty()) return {};
  return 1 / std::sqrt(static_cast<double>(model.layers[0].rope.head_dim));
}

// Closed on failure: what an attention block has no field for is not left out in silence.
void note_what_attention_lacks(const Field& config, const Family& family, ModelConfig& out) {
  const auto note = [&](const char* key, const std::string& why) {
    if (const auto field = first_of(config, {key})) out.rotation_only.push_back(field->path() + ": " + why);
  };
  note("attention_chunk_size", "attention in chunks");
  note("qk_nope_head_dim", "heads with a part that is not rotated beside");
  const bool which = family.model_type.empty() && !first_of(config, {"layer_types"}) && slides(config);
  if (which) note("sliding_window", "which layers it is for is not stated");
}

// A multimodal model's text part, and which model_type it is of.
std::pair<Field, std::string> text_model(const Field& whole) {
  const auto part = first_of(whole, {"text_config"});
  if (part && !part->json().is_object()) part->refuse("an object is needed");
  const Field& config = part ? *part : whole;
  if (const auto type = first_of(config, {"model_type"})) return {config, type->text()};
  const auto outer = first_of(whole, {"model_type"});
  return {config, outer ? outer->text() + "_text" : ""};
}

}  // namespace

std::string_view kind_of(const ModelLayer& layer) {
  return !layer.type.empty() ? std::string_view(layer.type) : kLayerTypes[layer.window > 0 ? 1 : 0];
}

ModelConfig read_model_config(const std::filesystem::path& file) {
  const Json document = read_json_file(file);
  const Field whole(file.string(), "", document);
  if (!document.is_object()) whole.refuse("a model's config.json is an object");
  if (const auto adapter = first_of(whole, {"peft_type"}))
    adapter->refuse("the config of an adapter; its model's own config.json is needed");
  if (const auto part = first_of(whole, {"_class_name"}))
    part->refuse("the config of a diffusers model; a language model's config.json is needed");
  ModelConfig out;
  const auto [config, model_type] = text_model(whole);
  out.model_type = model_type;
  const Family* known = family_of(model_type);
  const Family family = known ? *known : Family{.model_type = "", .pairing = "", .theta = 0, .as_many_kv_heads = false};

  refuse_unknown_rope_keys(config);
  read_layers(config, family, out);
  out.max_position = count(first_of(config, {"max_position_embeddings", "n_positions"}));
  if (out.max_position == 0) out.max_position = family.max_position;
  out.heads = count(first_of(config, {"num_attention_heads", "n_head"}));
  out.kv_heads = kv_heads_of(config, family, out.heads);
  if (const auto softcap = first_of(config, {"attn_logit_softcapping"})) {
    out.softcap = softcap->number();
    if (out.softcap <= 0) softcap->refuse("a number above 0, or null, is needed");
  }
  out.pairing = std::string(family.pairing);
  if (const auto interleave = first_of(config, {"rope_interleave"}))
    out.pairing = interleave->flag() ? "interleaved" : "half_split";
  out.softmax_scale = softmax_scale_of(config, family, out);
  out.sinks = family.sinks;
  note_what_attention_lacks(config, family, out);
  return out;
}

}  // namespace ropewalk
