#include "harness/recipes/scaling_words.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ropewalk::scaling_words {
namespace {

using reference::Scaling;

double width_of(const Rope& rope) { return static_cast<double>(rope.rotary_dim()); }

// find_correction_dim in transformers' modeling_rope_utils.py, in its order of operations.
double pair_of_turns(const Rope& rope, double turns, double length) {
  return (width_of(rope) * std::log(length / (turns * 2 * std::numbers::pi))) / (2 * std::log(rope.base));
}

Ramp ramp(const Rope& rope, double length, bool truncate, double last) {
  double low = pair_of_turns(rope, rope.scaling.beta_fast, length);
  double high = pair_of_turns(rope, rope.scaling.beta_slow, length);
  if (truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, last);
  if (low == high) high += 0.001;
  return {low, high - low};
}

double longrope_factor(const Scaling& scaling) {
  if (scaling.max_position_embeddings == 0) return scaling.factor;
  return scaling.max_position_embeddings / scaling.original_max_position_embeddings;
}

// get_mscale in transformers and DeepSeek.
double mscale_of(double factor, double mscale) { return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0; }

bool given(const std::optional<double>& number) { return number && *number != 0; }

double yarn_ratio(const Scaling& scaling) {
  return mscale_of(scaling.factor, *scaling.mscale) / mscale_of(scaling.factor, *scaling.mscale_all_dim);
}

}  // namespace

double dynamic_base(const Rope& rope) {
  const Scaling& s = rope.scaling;
  if (s.type != Scaling::Type::dynamic || s.length <= s.max_position_embeddings) return rope.base;
  const double width = width_of(rope);
  return rope.base * std::pow((s.factor * s.length / s.max_position_embeddings) - (s.factor - 1), width / (width - 2));
}

Ramp yarn_ramp(const Rope& rope) {
  return ramp(rope, rope.scaling.original_max_position_embeddings, rope.scaling.truncate, width_of(rope) - 1);
}
Ramp yarn_ramp_truncated(const Rope& rope) {
  return ramp(rope, rope.scaling.original_max_position_embeddings, true, width_of(rope) - 1);
}
Ramp yarn_ramp_of_maximum(const Rope& rope) {
  return ramp(rope, rope.scaling.max_position_embeddings, true, width_of(rope) - 1);
}
Ramp yarn_ramp_within_pairs(const Rope& rope) {
  return ramp(rope, rope.scaling.original_max_position_embeddings, rope.scaling.truncate, width_of(rope) / 2 - 1);
}

double attention_scaling_default(const Rope& rope) {
  const Scaling& s = rope.scaling;
  if (s.type == Scaling::Type::yarn) return mscale_of(s.factor, 1);
  const double factor = longrope_factor(s);
  if (s.type != Scaling::Type::longrope || factor <= 1) return 1;
  return std::sqrt(1 + std::log(factor) / std::log(s.original_max_position_embeddings));
}

double attention_scaling(const Rope& rope) {
  const Scaling& s = rope.scaling;
  if (s.attention_factor) return *s.attention_factor;
  const bool yarn = s.type == Scaling::Type::yarn;
  return yarn && given(s.mscale) && given(s.mscale_all_dim) ? yarn_ratio(s) : attention_scaling_default(rope);
}

double attention_scaling_4_43(const Rope& rope) {
  return rope.scaling.attention_factor ? *rope.scaling.attention_factor : attention_scaling_default(rope);
}

double attention_scaling_litgpt(const Rope& rope) {
  const Scaling& s = rope.scaling;
  if (s.type != Scaling::Type::yarn) return 1;
  if (given(s.mscale) && given(s.mscale_all_dim)) return yarn_ratio(s);
  const auto& one = given(s.mscale_all_dim) ? s.mscale_all_dim : s.mscale;
  return given(one) ? mscale_of(s.factor, *one) : 1;
}

double attention_scaling_logged_twice(const Rope& rope) {
  return mscale_of(rope.scaling.factor, mscale_of(rope.scaling.factor, 1));
}

bool long_by_length(const Rope& rope) { return rope.scaling.length > rope.scaling.original_max_position_embeddings; }
bool long_by_maximum(const Rope& rope) { return longrope_factor(rope.scaling) > 1; }
bool long_from_original(const Rope& rope) {
  return rope.scaling.length >= rope.scaling.original_max_position_embeddings && long_by_maximum(rope);
}

}  // namespace ropewalk::scaling_words
