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

reference::Rotation exact_rotation(const Case& problem) {
  reference::Rotation out;
  out.head_dim = static_cast<int>(problem.rope.head_dim);
  out.rotary = static_cast<int>(problem.rope.rotary_dim());
  if (problem.attention->pairing == "interleaved") out.pairing = reference::Pairing::interleaved;
  return out;
}

}  // namespace ropewalk
