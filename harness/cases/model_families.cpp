#include "harness/cases/model_families.hpp"

#include <algorithm>
#include <array>

namespace ropewalk {
namespace {

constexpr std::string_view kInterleaved = "interleaved";

// Source: the configuration classes of transformers 4.57.6 and 5.24.0, and 4.37.2 for those that it has. A default that
// these do not agree on is left out: the base of Cohere (1e4, later 5e5) and of Qwen3-VL (5e6, later 5e5).
constexpr std::array<Family, 31> kFamilies{{
    {.model_type = "llama"},
    {.model_type = "mistral", .as_many_kv_heads = false, .sliding = Sliding::all},
    {.model_type = "mixtral", .theta = 1e6, .as_many_kv_heads = false, .sliding = Sliding::all},
    {.model_type = "gpt_neox", .partial_rotary_factor = 0.25, .max_position = 2048},
    {.model_type = "gptj", .pairing = kInterleaved, .rotary_dim = 64, .max_position = 2048},
    {.model_type = "falcon", .max_position = 2048},
    {.model_type = "phi", .partial_rotary_factor = 0.5},
    {.model_type = "phi3", .sliding = Sliding::all},
    {.model_type = "stablelm", .partial_rotary_factor = 0.25, .as_many_kv_heads = false},
    {.model_type = "gemma", .head_dim = 256, .as_many_kv_heads = false},
    {.model_type = "gemma2", .head_dim = 256, .as_many_kv_heads = false, .sliding = Sliding::some},
    {.model_type = "gemma3_text",
     .theta = 1e6,
     .local_theta = 1e4,
     .head_dim = 256,
     .max_position = 131072,
     .as_many_kv_heads = false,
     .sliding = Sliding::some},
    {.model_type = "gemma4_text",
     .theta = 1e6,
     .local_theta = 1e4,
     .head_dim = 256,
     .global_head_dim = 512,
     .max_position = 131072,
     .as_many_kv_heads = false,
     .sliding = Sliding::some,
     .softmax_scale = 1},
    {.model_type = "qwen2", .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen3", .head_dim = 128, .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen3_moe", .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen2_vl", .theta = 1e6, .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen2_vl_text", .theta = 1e6, .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen2_5_vl", .theta = 1e6, .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen2_5_vl_text", .theta = 1e6, .as_many_kv_heads = false, .sliding = Sliding::if_switched},
    {.model_type = "qwen3_vl_text", .theta = 0, .head_dim = 128, .as_many_kv_heads = false, .mrope_interleaved = true},
    {.model_type = "olmo2"},
    {.model_type = "deepseek_v2", .pairing = kInterleaved},
    {.model_type = "deepseek_v3", .pairing = kInterleaved, .as_many_kv_heads = false},
    {.model_type = "gpt_oss",
     .theta = 150000,
     .head_dim = 64,
     .max_position = 131072,
     .as_many_kv_heads = false,
     .sliding = Sliding::some,
     .sinks = true},
    {.model_type = "cohere", .pairing = kInterleaved, .theta = 0},
    {.model_type = "cohere2",
     .pairing = kInterleaved,
     .theta = 0,
     .sliding = Sliding::some,
     .without_rope = "full_attention"},
    {.model_type = "glm",
     .pairing = kInterleaved,
     .partial_rotary_factor = 0.5,
     .head_dim = 128,
     .as_many_kv_heads = false},
    {.model_type = "glm4",
     .pairing = kInterleaved,
     .partial_rotary_factor = 0.5,
     .head_dim = 128,
     .as_many_kv_heads = false},
    {.model_type = "llama4_text",
     .pairing = kInterleaved,
     .theta = 500000,
     .head_dim = 128,
     .as_many_kv_heads = false,
     .without_rope = "full_attention"},
    {.model_type = "granite", .softmax_scale = 1},
}};

}  // namespace

const Family* family_of(std::string_view model_type) {
  const auto* found = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const Family& family) { return family.model_type == model_type; });
  return found == kFamilies.end() ? nullptr : found;
}

}  // namespace ropewalk
