#include "harness/checks/attention_problem.hpp"

#include "harness/cases/exact_attention.hpp"
#include "harness/tensors/blocks.hpp"

namespace ropewalk {

using reference::Enclosures;
using reference::Reals;

AttentionSizes sizes_of(const Case& problem) {
  const Attention& a = *problem.attention;
  const std::int64_t keys = problem.positions.count();
  return {a.batch, a.queries(keys), keys, a.heads, problem.rope.head_dim};
}

ScoreInputs score_inputs(const Stages& inputs) {
  const auto numbers = [&](const char* name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? std::vector<double>{} : to_doubles(found->second);
  };
  return {numbers("v"), numbers("mask"), numbers("alibi"), numbers("sinks"), numbers("grad_output")};
}

AttentionProblem::AttentionProblem(const Case& problem, const ScoreInputs& inputs)
    : inputs_(inputs), described_(exact_attention(problem)) {
  const Attention& a = *problem.attention;
  const AttentionSizes n = sizes_of(problem);
  reference::Attention& out = described_;
  out.kv_heads = out.heads;
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

reference::Attention AttentionProblem::with_given_mask() const {
  reference::Attention out = described_;
  out.causal = reference::Causal::none;
  out.window = 0;
  out.allowed = {};
  out.mask = inputs_.mask;
  return out;
}

std::vector<double> values_at_all_heads(const std::vector<double>& values, const Case& problem, std::size_t batch) {
  const AttentionSizes n = sizes_of(problem);
  const auto each = static_cast<std::size_t>(n.keys * problem.attention->kv_heads * n.dim);
  return each_block_repeated(std::span(values).subspan(batch * each, each), static_cast<std::size_t>(n.dim),
                             static_cast<std::size_t>(n.heads / problem.attention->kv_heads));
}

void append(Enclosures& all, const Enclosures& part) {
  all.head.insert(all.head.end(), part.head.begin(), part.head.end());
  all.tail.insert(all.tail.end(), part.tail.begin(), part.tail.end());
  all.bound.insert(all.bound.end(), part.bound.begin(), part.bound.end());
}

Reals part_of(const Enclosures& all, std::size_t batch, std::size_t size) {
  Reals out;
  out.head = std::span(all.head).subspan(batch * size, size);
  out.tail = std::span(all.tail).subspan(batch * size, size);
  out.bound = std::span(all.bound).subspan(batch * size, size);
  return out;
}

}  // namespace ropewalk
