#include "harness/checks/score_truth.hpp"

#include <algorithm>

#include "harness/cases/exact_attention.hpp"
#include "harness/tensors/blocks.hpp"
#include "reference/attention.hpp"
#include "reference/dot.hpp"

namespace ropewalk {
namespace {

using reference::Enclosures;
using reference::Reals;

struct Sizes {
  std::int64_t batch, seq, heads, dim;
};

Sizes sizes_of(const Case& problem) {
  return {problem.attention->batch, problem.positions.count(), problem.attention->heads, problem.rope.head_dim};
}

reference::Attention description(const Case& problem) {
  reference::Attention out = exact_attention(problem);
  out.kv_heads = out.heads;  // keys and values are expanded to all heads
  return out;
}

void append(Enclosures& all, const Enclosures& part) {
  all.head.insert(all.head.end(), part.head.begin(), part.head.end());
  all.tail.insert(all.tail.end(), part.tail.begin(), part.tail.end());
  all.bound.insert(all.bound.end(), part.bound.begin(), part.bound.end());
}

Reals slice(const Enclosures& all, std::size_t batch, std::size_t size) {
  Reals out;
  out.head = std::span(all.head).subspan(batch * size, size);
  out.tail = std::span(all.tail).subspan(batch * size, size);
  out.bound = std::span(all.bound).subspan(batch * size, size);
  return out;
}

// Values [batch, seq, kv_heads, dim] of one sequence, at all heads.
std::vector<double> expanded(const std::vector<double>& values, const Case& problem, std::size_t batch) {
  const Sizes n = sizes_of(problem);
  const auto each = static_cast<std::size_t>(n.seq * problem.attention->kv_heads * n.dim);
  return each_block_repeated(std::span(values).subspan(batch * each, each), static_cast<std::size_t>(n.dim),
                             static_cast<std::size_t>(n.heads / problem.attention->kv_heads));
}

Shape shape_of(const std::string& stage, const Sizes& n) {
  if (stage == "output") return {n.batch, n.seq, n.heads, n.dim};
  return {n.batch, n.heads, n.seq, n.seq};
}

void add_stage(const std::string& stage, const reference::Attention& a, const reference::AttentionInputs& in,
               Enclosures& all) {
  Enclosures part;
  if (stage == "scores") reference::attention_scores(a, in, part);
  if (stage == "probabilities") reference::attention_probabilities(a, in, part);
  if (stage == "output") reference::attention_output(a, in, reference::Accuracy::rounding, part);
  append(all, part);
}

// Softmax of logits as they were observed: of zero queries, with the logits as a mask that is added.
Enclosures softmax_of(std::span<const double> logits, const Sizes& n) {
  reference::Attention a;
  a.q_len = a.kv_len = n.seq;
  a.heads = a.kv_heads = static_cast<int>(n.heads);
  a.head_dim = 1;
  a.mask = logits;
  const std::vector<double> zeros(static_cast<std::size_t>(n.seq * n.heads), 0.0);
  Enclosures out;
  reference::attention_probabilities(a, {zeros, zeros, zeros}, out);
  return out;
}

// Observed probabilities [heads, seq, seq] times values [seq, heads, dim], as [seq, heads, dim].
Enclosures weighted(std::span<const double> probabilities, const std::vector<double>& values, const Sizes& n) {
  const auto seq = static_cast<std::size_t>(n.seq), heads = static_cast<std::size_t>(n.heads),
             dim = static_cast<std::size_t>(n.dim);
  Enclosures out;
  out.resize(seq * heads * dim);
  std::vector<double> of_head(seq * dim);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t row = 0; row < seq; ++row)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>((row * heads + h) * dim), dim,
                  of_head.begin() + static_cast<std::ptrdiff_t>(row * dim));
    const Enclosures sums =
        reference::product(probabilities.subspan(h * seq * seq, seq * seq), of_head, {n.seq, n.seq, n.dim});
    for (std::size_t row = 0; row < seq; ++row)
      for (std::size_t c = 0; c < dim; ++c) {
        const std::size_t to = (row * heads + h) * dim + c, from = row * dim + c;
        out.head[to] = sums.head[from];
        out.tail[to] = sums.tail[from];
        out.bound[to] = sums.bound[from];
      }
  }
  return out;
}

const Tensor* find(const Stages& stages, const std::string& name) {
  const auto found = stages.find(name);
  return found == stages.end() ? nullptr : &found->second;
}

}  // namespace

bool is_score_stage(const std::string& stage) {
  return stage == "scores" || stage == "probabilities" || stage == "output";
}

StageTruth scores_total(const std::string& stage, const Case& problem, const StageTruth& rotated_q,
                        const StageTruth& rotated_k, const std::vector<double>& values) {
  const Sizes n = sizes_of(problem);
  const auto size = static_cast<std::size_t>(n.seq * n.heads * n.dim);
  StageTruth out;
  out.shape = shape_of(stage, n);
  for (std::size_t b = 0; b < static_cast<std::size_t>(n.batch); ++b) {
    const std::vector<double> v = expanded(values, problem, b);
    add_stage(stage, description(problem), {slice(rotated_q.values, b, size), slice(rotated_k.values, b, size), v},
              out.values);
  }
  return out;
}

std::optional<StageTruth> scores_local(const std::string& stage, const Case& problem, const Stages& observed,
                                       const std::vector<double>& values) {
  const Sizes n = sizes_of(problem);
  StageTruth out;
  out.shape = shape_of(stage, n);
  const Tensor *q = find(observed, "rotated_q"), *k = find(observed, "rotated_k"), *s = find(observed, "scores"),
               *p = find(observed, "probabilities");
  const Tensor* before = stage == "probabilities" ? s : stage == "output" ? p : nullptr;
  if (!before && !(q && k)) return std::nullopt;
  const std::vector<double> first = to_doubles(before ? *before : *q);
  const std::vector<double> second = before ? std::vector<double>{} : to_doubles(*k);
  const std::size_t each = first.size() / static_cast<std::size_t>(n.batch);
  for (std::size_t b = 0; b < static_cast<std::size_t>(n.batch); ++b) {
    const std::span<const double> mine = std::span(first).subspan(b * each, each);
    const std::vector<double> v = expanded(values, problem, b);
    if (!before)
      add_stage(stage, description(problem), {Reals(mine), Reals(std::span(second).subspan(b * each, each)), v},
                out.values);
    else
      append(out.values, stage == "probabilities" ? softmax_of(mine, n) : weighted(mine, v, n));
  }
  return out;
}

}  // namespace ropewalk
