#include "harness/cases/exact_attention.hpp"

namespace ropewalk {

reference::Attention exact_attention(const Case& problem) {
  const Attention& a = *problem.attention;
  reference::Attention out;
  out.q_len = out.kv_len = problem.positions.count();
  out.heads = static_cast<int>(a.heads);
  out.kv_heads = static_cast<int>(a.kv_heads);
  out.head_dim = static_cast<int>(problem.rope.head_dim);
  out.causal = a.causal == "none"       ? reference::Causal::none
               : a.causal == "top_left" ? reference::Causal::top_left
                                        : reference::Causal::bottom_right;
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
