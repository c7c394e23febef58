// A case's attention as the reference takes it, one sequence of the batch at a time.
#pragma once

#include <string>
#include <vector>

#include "harness/checks/whole_truth.hpp"
#include "reference/attention.hpp"

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
ScoreInputs score_inputs(const Stages& inputs);

// Keys and values are expanded to all heads. Who sees whom follows from the case's own fields, not from the mask that
// was given, except where the mask is drawn.
class AttentionProblem {
 public:
  AttentionProblem(const Case& problem, const ScoreInputs& inputs);
  const reference::Attention& described() const { return described_; }
  // With the mask that was given, hidden keys included, added as numbers: what scores are where the least number hides.
  reference::Attention with_given_mask() const;

 private:
  const ScoreInputs& inputs_;
  std::vector<std::uint8_t> allowed_;
  reference::Attention described_;
};

// Values [batch, keys, kv_heads, dim] of one sequence, at all heads.
std::vector<double> values_at_all_heads(const std::vector<double>& values, const Case& problem, std::size_t batch);

void append(reference::Enclosures& all, const reference::Enclosures& part);
reference::Reals part_of(const reference::Enclosures& all, std::size_t batch, std::size_t size);

}  // namespace ropewalk
