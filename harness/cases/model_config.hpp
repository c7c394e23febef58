// What a model's own config.json (Hugging Face, old and new style) says of its rotary embedding and its attention. What
// it does not state is taken from the class of its model_type or is missing; nothing is guessed.
#pragma once

#include <filesystem>
#include <optional>

#include "harness/cases/case.hpp"

namespace ropewalk {

// One kind of layer.
struct ModelLayer {
  std::string type;  // full_attention, sliding_attention, chunked_attention; empty: all layers are alike
  Rope rope;
  std::int64_t window = 0;  // keys that a query sees, itself included; 0: all
};

struct ModelConfig {
  std::string model_type;  // of the text model; empty: not stated
  std::vector<ModelLayer> layers;
  bool base_stated = true;                                 // false: the class's default was taken
  std::int64_t max_position = 0, heads = 0, kv_heads = 0;  // 0: not stated
  double softcap = 0;                                      // of the scores; 0: none
  std::optional<double> softmax_scale;
  bool sinks = false;
  std::string pairing;                     // as in an attention block; empty: not stated
  std::vector<std::string> rotation_only;  // what attention blocks cannot say beyond the rotation, with the key
};

// The layer's type; of a model whose layers are all alike what they are.
std::string_view kind_of(const ModelLayer& layer);

// Throws BadInput, which names the key.
ModelConfig read_model_config(const std::filesystem::path& file);

}  // namespace ropewalk
