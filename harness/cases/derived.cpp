#include "harness/cases/derived.hpp"

#include "harness/cases/cell.hpp"
#include "harness/cases/exact_rope.hpp"
#include "reference/pair_scales.hpp"

namespace ropewalk {
namespace {

Json count_or_null(std::int64_t n) { return n > 0 ? Json(n) : Json(nullptr); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Without its lists, which the model's own file has.
Json scaling_of(const Rope& rope) {
  Json out = scaling_block(rope);
  for (const char* list : {"short_factor", "long_factor"})
    if (out.contains(list)) out.erase(list);
  const bool by_lengths =
      rope.scaling.type == reference::Scaling::Type::longrope && rope.scaling.max_position_embeddings > 0;
  if (by_lengths) out.erase("factor");  // it is their ratio
  return out;
}

// How many pairs the scaling keeps, blends, divides and so on; where a ramp begins and ends, in pairs.
Json bands_of(const Rope& rope) {
  if (rope.scaling.type == reference::Scaling::Type::none) return nullptr;
  const reference::PairScales scales(rope.base, static_cast<int>(rope.rotary_dim()), rope.scaling);
  Json out = Json::object();
  for (int pair = 0; pair < rope.rotary_dim() / 2; ++pair) {
    Json& pairs = out[std::string(name_of(scales.band(pair)))];
    pairs = pairs.is_null() ? 1 : pairs.get<std::int64_t>() + 1;
  }
  if (!scales.ramp()) return out;
  out["low"] = plain_json(scales.ramp()->low());
  out["high"] = plain_json(scales.ramp()->high());
  return out;
}

}  // namespace

nlohmann::ordered_json derived_from(const ModelConfig& config, const ModelLayer& layer, const Case& cell) {
  const Rope& rope = cell.rope;
  Json out{{"model_type", text_or_null(config.model_type)},
           {"theta", plain_json(rope.base)},
           {"theta_stated", config.base_stated},
           {"head_dim", rope.head_dim},
           {"rotary_dim", rope.rotary_dim()},
           {"scaling", scaling_of(rope)},
           {"bands", bands_of(rope)},
           {"amplitude", amplitude_of(rope).head()},
           {"max_position", count_or_null(config.max_position)},
           {"heads", count_or_null(config.heads)},
           {"kv_heads", count_or_null(config.kv_heads)},
           {"pairing", text_or_null(config.pairing)},
           {"window", count_or_null(layer.window)},
           {"softcap", config.softcap > 0 ? plain_json(config.softcap) : Json(nullptr)},
           {"softmax_scale", config.softmax_scale ? Json(*config.softmax_scale) : Json(nullptr)}};
  if (!layer.rope.mrope_section.empty()) {
    out["mrope_section"] = layer.rope.mrope_section;
    out["mrope_interleaved"] = layer.rope.mrope_interleaved;
  }
  return out;
}

}  // namespace ropewalk
