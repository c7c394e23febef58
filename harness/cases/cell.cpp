#include "harness/cases/cell.hpp"

namespace ropewalk {

Json attention_block(const Attention& a, std::int64_t positions) {
  return {{"heads", a.heads},
          {"kv_heads", a.kv_heads},
          {"batch", a.batch},
          {"pairing", a.pairing},
          {"q_len", a.queries(positions)},
          {"offset", a.first_query(positions)},
          {"causal", a.causal},
          {"window", a.window},
          {"padding", a.padding},
          {"mask", a.mask},
          {"alibi", a.alibi},
          {"sinks", a.sinks},
          {"scale", plain_json(a.scale)},
          {"softcap", plain_json(a.softcap)},
          {"fully_masked", a.fully_masked},
          {"backward", a.backward},
          {"inputs", a.inputs}};
}

Json lora_block(const Lora& lora) {
  return {{"heads", lora.heads},         {"groups", lora.groups}, {"head_dim", lora.head_dim},
          {"embedding", lora.embedding}, {"r", lora.r},           {"alpha", plain_json(lora.alpha)},
          {"scale", lora.scale},         {"enable", lora.enable}, {"layout", lora.layout},
          {"bias", lora.bias},           {"batch", lora.batch},   {"seq", lora.seq},
          {"inputs", lora.inputs}};
}

Json scaling_block(const Rope& rope) {
  using Type = reference::Scaling::Type;
  const reference::Scaling& s = rope.scaling;
  if (s.type == Type::none) return nullptr;
  Json out{{"type", name_of(s.type)}};
  const auto optional = [](const std::optional<double>& value) { return value ? plain_json(*value) : Json(nullptr); };
  if (s.type == Type::proportional) out["proportion"] = plain_json(s.proportion);
  out["factor"] = plain_json(s.factor);
  if (s.type == Type::yarn || s.type == Type::longrope || s.type == Type::llama3)
    out["original_max_position_embeddings"] = plain_json(s.original_max_position_embeddings);
  if (s.type == Type::dynamic || s.type == Type::yarn || s.type == Type::longrope)
    out["max_position_embeddings"] = plain_json(s.max_position_embeddings);
  if (s.type == Type::dynamic || s.type == Type::longrope) out["length"] = plain_json(s.length);
  if (s.type == Type::yarn || s.type == Type::longrope) out["attention_factor"] = optional(s.attention_factor);
  if (s.type == Type::yarn)
    out.update({{"beta_fast", plain_json(s.beta_fast)},
                {"beta_slow", plain_json(s.beta_slow)},
                {"truncate", s.truncate},
                {"mscale", optional(s.mscale)},
                {"mscale_all_dim", optional(s.mscale_all_dim)}});
  if (s.type == Type::longrope) out.update({{"short_factor", s.short_factor}, {"long_factor", s.long_factor}});
  if (s.type == Type::llama3)
    out.update(
        {{"low_freq_factor", plain_json(s.low_freq_factor)}, {"high_freq_factor", plain_json(s.high_freq_factor)}});
  return out;
}

Json scaling_fields_of(const Rope& rope) {
  const Json block = scaling_block(rope);
  Json out = Json::object();
  for (const auto& [name, value] : block.items())
    if (!value.is_null() && value != 0) out[name == "type" ? "scaling" : name] = value;
  return out;
}

}  // namespace ropewalk
