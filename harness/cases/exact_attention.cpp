#include "harness/cases/exact_attention.hpp"

namespace ropewalk {

reference::Attention exact_attention(const Case& problem) {
  const Attention& a = *problem.attention;
  reference::Attention out;
  out.kv_len = problem.positions.count();
  out.q_len = a.queries(out.kv_len);
  out.heads = static_cast<int>(a.heads);
  out.kv_heads = static_cast<int>(a.kv_heads);
  out.head_dim = static_cast<int>(problem.rope.head_dim);
  out.over_root = a.scale == 0;
  out.scale = a.scale == 0 ? 1 : a.scale;
  out.causal = a.causal == "none"           ? reference::Causal::none
               : a.causal == "bottom_right" ? reference::Causal::bottom_right
                                            : reference::Causal::top_left;
  out.offset = a.causal == "bottom_right" ? 0 : a.shift(out.kv_len);
  out.window = a.window;
  out.softcap = a.softcap;
  out.fully_masked = a.fully_masked == "zero"  ? reference::FullyMasked::zero
                     : a.fully_masked == "nan" ? reference::FullyMasked::nan
                                               : reference::FullyMasked::mean;
  return out;
}

AttentionSizes sizes_of(const Case& problem) {
  const Attention& a = *problem.attention;
  const std::int64_t keys = problem.positions.count();
  return {a.batch, a.queries(keys), keys, a.heads, problem.rope.head_dim};
}

ScoreInputs score_inputs(const std::map<std::string, Tensor>& inputs) {
  const auto numbers = [&](const char* name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? std::vector<double>{} : to_doubles(found->second);
  };
  return {numbers("v"), numbers("mask"), numbers("alibi"), numbers("sinks"), numbers("grad_output")};
}

ExactAttention::ExactAttention(const Case& problem, const ScoreInputs& inputs, std::int64_t kv_heads)
    : inputs_(inputs), described_(exact_attention(problem)) {
  const Attention& a = *problem.attention;
  const AttentionSizes n = sizes_of(problem);
  reference::Attention& out = described_;
  out.kv_heads = static_cast<int>(kv_heads);
  out.alibi = inputs.alibi;
  out.sinks = inputs.sinks;
  if (a.mask == "additive") out.mask = inputs.mask;
  if (a.padding == 0 && a.mask != "boolean") return;
  allowed_.resize(static_cast<std::size_t>(n.queries * n.keys), 1);
  for (std::size_t i = 0; i < allowed_.size(); ++i) {
    const bool padded = static_cast<std::int64_t>(i) % n.keys < a.padding;
    allowed_[i] = !padded && (a.mask != "boolean" || inputs.mask[i] == 0);
  }
  out.allowed = allowed_;
}

reference::Attention ExactAttention::with_given_mask() const {
  reference::Attention out = described_;
  out.causal = reference::Causal::none;
  out.window = 0;
  out.allowed = {};
  out.mask = inputs_.mask;
  return out;
}

reference::Rotation exact_rotation(const Case& problem) {
  reference::Rotation out;
  out.head_dim = static_cast<int>(problem.rope.head_dim);
  out.rotary = static_cast<int>(problem.rope.rotary_dim());
  if (problem.attention->pairing == "interleaved") out.pairing = reference::Pairing::interleaved;
  return out;
}

}  // namespace ropewalk
