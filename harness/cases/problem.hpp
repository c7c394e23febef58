// What a case is about: RoPE tables, attention with RoPE, or a LoRA update with its padding; and the stages of each.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/scaling.hpp"

namespace ropewalk {

enum class Kind { table, attention, lora };
std::string_view name_of(Kind kind);
std::span<const std::string_view> stages_of(Kind kind);  // in the order in which they arise

std::string_view name_of(reference::Scaling::Type type);

struct Rope {
  std::int64_t head_dim = 0;
  double base = 10000;
  double partial_rotary_factor = 1;
  reference::Scaling scaling;               // its length: as written, or the largest position + 1
  std::vector<std::int64_t> mrope_section;  // how many pairs turn by each axis (time, height, width); empty: one axis
  bool mrope_interleaved = false;
  bool axial = false;  // two axes, rows and columns: each half of the pairs has all frequencies of half the width
  bool operator==(const Rope&) const = default;
  std::int64_t axes() const { return axial ? 2 : mrope_section.empty() ? 1 : std::ssize(mrope_section); }
  std::int64_t rotary_dim() const;  // head_dim * partial_rotary_factor, truncated as the implementations do; even
};

// Rotated queries and keys, and what attention makes of them. q [batch, queries, heads, head_dim], k and v [batch,
// keys, kv_heads, head_dim]; there is a key for each position, head_dim is the rope block's. rotated_k comes after its
// heads were expanded: at all heads.
struct Attention {
  std::int64_t heads = 1, kv_heads = 1, batch = 1;
  std::int64_t q_len = 0;       // queries; 0: one for each position
  std::int64_t offset = -1;     // query 0 stands at this row of the positions (a cache); -1: queries stand at the last
  std::string causal = "none";  // or "top_left", "bottom_right", "offset": key j is seen if j <= query + shift()
  std::int64_t window = 0;      // keys that a query sees, its own included; 0: all
  std::int64_t padding = 0;     // keys at the left that no query sees
  std::string mask = "none";    // or "additive" (normals), "boolean" (half of the keys, drawn for each query)
  double scale = 0;             // of the products; 0: 1 / sqrt(head_dim)
  double softcap = 0;           // 0: none
  bool alibi = false, sinks = false;
  std::string pairing =
      "half_split";                   // channels that turn together: j and j + width/2; or "interleaved": 2j and 2j + 1
  std::string fully_masked = "zero";  // what a row without keys gives; for "mean" the dtype's least number hides
  std::string backward = "rotation";  // grad_q and grad_k are those of the rotation alone, or of the whole "attention"
  std::string inputs = "normal";
  std::int64_t queries(std::int64_t keys) const { return q_len == 0 ? keys : q_len; }
  std::int64_t first_query(std::int64_t keys) const { return offset < 0 ? keys - queries(keys) : offset; }
  std::int64_t shift(std::int64_t keys) const;  // the key that query 0 counts as its own, for causal and window
};

// Calls one after another with what is kept between them. A call that is longer than the one before goes on with its
// sequence and serves the rows that are new, as a cache of keys does; any other begins a new one, at row 0.
struct State {
  std::vector<std::int64_t> lengths;  // of the sequence in each call, its new rows included
  std::int64_t built_for = 0;         // positions of a table that is made before the first call; 0: as the project does
  bool operator==(const State&) const = default;
};

// A LoRA update of a fused projection of queries, keys and values: x [batch, seq, embedding].
struct Lora {
  std::int64_t heads = 1, groups = 1, head_dim = 1, embedding = 1;  // groups: key and value heads
  std::int64_t r = 1, batch = 1, seq = 1;
  double alpha = 1;
  std::string scale = "alpha/r";  // or "alpha/sqrt(r)", "alpha"
  std::array<bool, 3> enable{true, true, true};
  std::string layout = "contiguous";  // q|k|v; or "grouped": q..q k v for each group
  bool bias = false;
  std::string inputs = "normal";  // or "ones"
  std::int64_t q_size() const { return head_dim * heads; }
  std::int64_t kv_size() const { return head_dim * groups; }
  std::int64_t out_size() const { return q_size() + 2 * kv_size(); }
  std::vector<std::int64_t> part_sizes() const;  // of the enabled parts, in the order q, k, v
  std::int64_t enabled_size() const;             // their sum
  double gamma() const;                          // alpha / r and so on in float64, as Python computes it
};

}  // namespace ropewalk
