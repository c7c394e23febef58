// softmax(scale q k^T + bias) v over the reals: enclosures with a proved bound, correct rounding, and gradients.
// Definitions, bounds and their sources: docs/numerics.md, section 3.
#pragma once

#include <cstdint>
#include <span>

#include "reference/enclosures.hpp"
#include "reference/format.hpp"
#include "reference/reals.hpp"

namespace ropewalk::reference {

// Query i stands at p_i: i + offset, and kv_len - q_len further on where causal is bottom_right. Causal: key j is seen
// if j <= p_i; top_left and bottom_right are the same for q_len = kv_len.
enum class Causal { none, top_left, bottom_right };

// What a row gives that sees no key and has no sink, for which softmax is undefined: zeros, NaN, or the mean of all v.
enum class FullyMasked { zero, nan, mean };

// One sequence. Spans are views; empty means that there is none.
struct Attention {
  std::int64_t q_len = 0, kv_len = 0;
  int heads = 0, kv_heads = 0;      // head h reads key-value head h / (heads / kv_heads)
  int head_dim = 0, value_dim = 0;  // value_dim 0: head_dim
  double scale = 1;                 // taken as it is, and divided by
  bool over_root = true;            // the real number sqrt(head_dim), if so
  Causal causal = Causal::none;
  std::int64_t offset = 0;                // of query 0 among the keys (a cache)
  std::int64_t window = 0;                // key j is seen only if j > p_i - window; 0: no window
  double softcap = 0;                     // c tanh(x / c) of the scaled product, before anything is added; 0: none
  std::span<const double> mask;           // added; -infinity hides. [q_len][kv_len] or [heads][q_len][kv_len]
  std::span<const std::uint8_t> allowed;  // 0 hides; the same shapes
  std::span<const double> alibi;          // slope of each head: slope (j - p_i) is added
  std::span<const double> sinks;          // a logit of each head that takes weight and gives nothing
  FullyMasked fully_masked = FullyMasked::zero;

  int values() const { return value_dim == 0 ? head_dim : value_dim; }
};

// q is [q_len][heads][head_dim], k [kv_len][kv_heads][head_dim], v [kv_len][kv_heads][values()]: doubles taken as they
// are, or q and k known within a bound (rotated by the exact table). A row that sees a number that is not finite is
// NaN.
struct AttentionInputs {
  Reals q, k;
  std::span<const double> v;
};

// What is enough: a bound near 1e-12 of the largest |v| (fp64), or near 2^-60 (two exact slices), three times slower.
enum class Accuracy { comparison, rounding };

// How the elements were proved; each is counted once.
struct AttentionProof {
  std::int64_t tier1 = 0, tier2 = 0;  // fp64, two slices
  std::int64_t tier3 = 0;             // MPFR
  std::int64_t exact = 0;             // one key alone or none is seen
  std::int64_t ties = 0;              // of tier3: halfway between two numbers of the format, shown in exact arithmetic
  std::int64_t undecided = 0;  // rounded, without proof: only where inputs are known within a bound, or no proof exists
  AttentionProof& operator+=(const AttentionProof& other);
};

// Output [q_len][heads][values()]. A row whose bound says nothing (huge logits) goes to MPFR if q and k are exact.
AttentionProof attention_output(const Attention& attention, const AttentionInputs& inputs, Accuracy accuracy,
                                Enclosures& output);

// The same, correctly rounded to the format, ties to even; q and k must be exact.
AttentionProof attention_rounded(const Attention& attention, const AttentionInputs& inputs, Format format,
                                 std::span<double> output);

// [heads][q_len][kv_len], in double-double. Hidden keys: score -infinity, probability 0. Scores are the logits: capped,
// and with mask and ALiBi added. Rows without keys have NaN probabilities, or the fully masked convention's (0,
// 1/kv_len).
void attention_scores(const Attention& attention, const AttentionInputs& inputs, Enclosures& scores);
void attention_probabilities(const Attention& attention, const AttentionInputs& inputs, Enclosures& probabilities);

// Gradients of sum(grad_output * output), in double-double with running bounds; grad_output as the output, each
// gradient as its input (those of k and v summed over the heads that read them). Rows without keys give nothing.
// `probabilities`, where given, are taken instead of those of q and k: [heads][q_len][kv_len].
void attention_gradients(const Attention& attention, const AttentionInputs& inputs, std::span<const double> grad_output,
                         Enclosures& grad_q, Enclosures& grad_k, Enclosures& grad_v, const Reals& probabilities = {});

}  // namespace ropewalk::reference
