// What a model's config.json leaves to the class of its model_type.
#pragma once

#include <cstdint>
#include <string_view>

namespace ropewalk {

// Which layers see a window of keys only, where the file has no layer_types.
enum class Sliding {
  none,
  all,          // every layer, if sliding_window is stated
  some,         // layers of both kinds
  if_switched,  // none without use_sliding_window, else some
};

// 0, empty: there is no such default.
struct Family {
  std::string_view model_type;
  std::string_view pairing = "half_split";  // channels that turn together, as in an attention block
  double theta = 10000, local_theta = 0;    // local: of sliding layers, where they have a rope of their own
  double partial_rotary_factor = 1;
  std::int64_t head_dim = 0;         // 0: hidden_size / num_attention_heads
  std::int64_t global_head_dim = 0;  // of layers that see all keys, where it is another
  std::int64_t rotary_dim = 0;
  std::int64_t max_position = 0;
  bool as_many_kv_heads = true;  // as heads, where num_key_value_heads is absent
  Sliding sliding = Sliding::none;
  std::string_view without_rope = {};  // the layer type that is not rotated at all
  double softmax_scale = 0;            // 0: head_dim^-1/2
  bool sinks = false;
  bool mrope_interleaved = false;  // which pairs an axis takes, where the file has an mrope_section and no word of it
};

// Null for a model_type that is not known: then nothing is a default.
const Family* family_of(std::string_view model_type);

}  // namespace ropewalk
