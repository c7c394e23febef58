// A case's rotation and attention as the reference takes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/tensors/tensor.hpp"
#include "reference/attention.hpp"
#include "reference/rotation.hpp"

namespace ropewalk {

struct AttentionSizes {
  std::int64_t batch, queries, keys, heads, dim;
  std::size_t of_q() const { return static_cast<std::size_t>(queries * heads * dim); }  // of one sequence
  std::size_t of_k() const { return static_cast<std::size_t>(keys * heads * dim); }     // at all heads
  std::size_t of_scores() const { return static_cast<std::size_t>(heads * queries * keys); }
};
AttentionSizes sizes_of(const Case& problem);

// The inputs that attention reads beside queries and keys; what the case does not have is empty.
struct ScoreInputs {
  std::vector<double> v, mask, alibi, sinks;
  std::vector<double> grad_output;
};
ScoreInputs score_inputs(const std::map<std::string, Tensor>& inputs);

reference::Rotation exact_rotation(const Case& problem);
// One sequence of the batch; keys and values at the case's kv_heads. What ExactAttention takes from the inputs is not
// in it.
reference::Attention exact_attention(const Case& problem);

// With padding and with the inputs' mask, ALiBi and sinks. Who sees whom follows from the case's own fields, not from
// the mask that was given, except where the mask is drawn.
class ExactAttention {
 public:
  ExactAttention(const Case& problem, const ScoreInputs& inputs, std::int64_t kv_heads);  // inputs must outlive it
  const reference::Attention& described() const { return described_; }
  // With the mask that was given, hidden keys included, added as numbers: what scores are where the least number hides.
  reference::Attention with_given_mask() const;

 private:
  const ScoreInputs& inputs_;
  std::vector<std::uint8_t> allowed_;
  reference::Attention described_;
};

}  // namespace ropewalk
