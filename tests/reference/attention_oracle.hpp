// Attention and its gradients by their definitions, in MPFR, one number after the other. Shares nothing with the
// reference but the description of the problem.
#pragma once

#include <vector>

#include "reference/attention.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {

constexpr int kOracleBits = 400;

struct AttentionTruth {
  // [heads][q_len][kv_len]; of hidden keys logits are NaN and probabilities 0. [q_len][heads][values].
  std::vector<Real> logits, probabilities, output;
  std::vector<std::uint8_t> seen;  // as logits
};
AttentionTruth attention_truth(const Attention& a, const std::vector<double>& q, const std::vector<double>& k,
                               const std::vector<double>& v);

struct GradientTruth {
  std::vector<Real> q, k, v;
};
GradientTruth gradient_truth(const Attention& a, const AttentionTruth& truth, const std::vector<double>& q,
                             const std::vector<double>& k, const std::vector<double>& v,
                             const std::vector<double>& grad_output);

}  // namespace ropewalk::reference
