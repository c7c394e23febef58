#include "harness/cases/cell.hpp"

namespace ropewalk {

Json attention_block(const Attention& a) {
  return {{"heads", a.heads},
          {"kv_heads", a.kv_heads},
          {"batch", a.batch},
          {"pairing", a.pairing},
          {"causal", a.causal},
          {"window", a.window},
          {"softcap", plain_json(a.softcap)},
          {"fully_masked", a.fully_masked},
          {"inputs", a.inputs}};
}

Json lora_block(const Lora& lora) {
  return {{"heads", lora.heads},         {"groups", lora.groups}, {"head_dim", lora.head_dim},
          {"embedding", lora.embedding}, {"r", lora.r},           {"alpha", plain_json(lora.alpha)},
          {"scale", lora.scale},         {"enable", lora.enable}, {"layout", lora.layout},
          {"bias", lora.bias},           {"batch", lora.batch},   {"seq", lora.seq},
          {"inputs", lora.inputs}};
}

}  // namespace ropewalk
