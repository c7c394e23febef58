// What a model's own config.json (Hugging Face) says of its rotary embedding. Of the scalings only `default`, none at
// all, is understood; the others are refused by their key.
#pragma once

#include <filesystem>

#include "harness/cases/case.hpp"

namespace ropewalk {

struct ModelConfig {
  Rope rope;
  bool base_stated = true;        // false: the file has no base, and 10000 is what transformers then takes
  std::int64_t max_position = 0;  // max_position_embeddings; 0: not stated
};

// Throws BadInput. Reads rope_theta, rope_parameters or rope_scaling, head_dim or hidden_size and num_attention_heads,
// partial_rotary_factor, and GPT-NeoX's rotary_emb_base and rotary_pct; a multimodal model's from its text_config.
ModelConfig read_model_config(const std::filesystem::path& file);

}  // namespace ropewalk
