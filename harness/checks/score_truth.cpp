#include "harness/checks/score_truth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/checks/sequences.hpp"
#include "reference/dot.hpp"

namespace ropewalk {
namespace {

using reference::Enclosures;
using reference::Reals;

Shape shape_of(const std::string& stage, const AttentionSizes& n) {
  if (stage == "output") return {n.batch, n.queries, n.heads, n.dim};
  return {n.batch, n.heads, n.queries, n.keys};
}

void add_stage(const std::string& stage, const Case& problem, const ExactAttention& attention,
               const reference::AttentionInputs& in, Enclosures& all) {
  Enclosures part;
  const reference::Attention& a = attention.described();
  if (stage == "scores" && problem.attention->fully_masked == "mean")
    reference::attention_scores(attention.with_given_mask(), in, part);
  else if (stage == "scores")
    reference::attention_scores(a, in, part);
  if (stage == "probabilities") reference::attention_probabilities(a, in, part);
  if (stage == "output") reference::attention_output(a, in, reference::Accuracy::rounding, part);
  append(all, part);
}

// Softmax of logits as they were observed: of zero queries, with the logits as a mask that is added. A row with NaN or
// +infinity (scores that overflowed) has none: NaN.
Enclosures softmax_of(std::span<const double> observed, const reference::Attention& described) {
  std::vector<double> logits(observed.begin(), observed.end());
  const auto keys_of_row = static_cast<std::size_t>(described.kv_len);
  std::vector<std::size_t> broken;
  for (std::size_t row = 0; row < logits.size(); row += keys_of_row) {
    const auto numbers = std::span(logits).subspan(row, keys_of_row);
    if (std::none_of(numbers.begin(), numbers.end(), [](double x) { return std::isnan(x) || x == HUGE_VAL; })) continue;
    std::fill(numbers.begin(), numbers.end(), 0.0);
    broken.push_back(row);
  }
  reference::Attention a;
  a.q_len = described.q_len;
  a.kv_len = described.kv_len;
  a.heads = a.kv_heads = described.heads;
  a.head_dim = 1;
  a.mask = logits;
  a.sinks = described.sinks;
  a.fully_masked = described.fully_masked;
  const std::vector<double> queries(static_cast<std::size_t>(a.q_len * a.heads), 0.0),
      keys(static_cast<std::size_t>(a.kv_len * a.heads), 0.0);
  Enclosures out;
  reference::attention_probabilities(a, {queries, keys, keys}, out);
  for (const std::size_t row : broken)
    std::fill_n(out.head.begin() + static_cast<std::ptrdiff_t>(row), keys_of_row,
                std::numeric_limits<double>::quiet_NaN());
  return out;
}

// Observed probabilities [heads, queries, keys] times values [keys, heads, dim], as [queries, heads, dim].
Enclosures weighted(std::span<const double> probabilities, const std::vector<double>& values, const AttentionSizes& n) {
  const auto queries = static_cast<std::size_t>(n.queries), keys = static_cast<std::size_t>(n.keys),
             heads = static_cast<std::size_t>(n.heads), dim = static_cast<std::size_t>(n.dim);
  Enclosures out;
  out.resize(queries * heads * dim);
  std::vector<double> of_head(keys * dim);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t row = 0; row < keys; ++row)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>((row * heads + h) * dim), dim,
                  of_head.begin() + static_cast<std::ptrdiff_t>(row * dim));
    const Enclosures sums = reference::product(probabilities.subspan(h * queries * keys, queries * keys), of_head,
                                               {n.queries, n.keys, n.dim});
    for (std::size_t row = 0; row < queries; ++row) {
      const auto weights = probabilities.subspan((h * queries + row) * keys, keys);
      const bool finite = std::all_of(weights.begin(), weights.end(), [](double p) { return std::isfinite(p); });
      for (std::size_t c = 0; c < dim; ++c) {
        const std::size_t to = (row * heads + h) * dim + c, from = row * dim + c;
        out.head[to] = finite ? sums.head[from] : std::numeric_limits<double>::quiet_NaN();
        out.tail[to] = sums.tail[from];
        out.bound[to] = sums.bound[from];
      }
    }
  }
  return out;
}

const Tensor* find(const Stages& stages, const std::string& name) {
  const auto found = stages.find(name);
  return found == stages.end() ? nullptr : &found->second;
}

std::span<const double> part_of(const std::vector<double>& all, std::size_t batch, std::size_t size) {
  return std::span(all).subspan(batch * size, size);
}

void add_gradients(const ExactAttention& attention, const reference::AttentionInputs& in,
                   std::span<const double> grad_output, const Reals& probabilities, AttentionGradients& all) {
  AttentionGradients part;
  reference::attention_gradients(attention.described(), in, grad_output, part.q, part.k, part.v, probabilities);
  append(all.q, part.q);
  append(all.k, part.k);
  append(all.v, part.v);
}

}  // namespace

bool is_score_stage(const std::string& stage) {
  return stage == "scores" || stage == "probabilities" || stage == "output";
}

StageTruth scores_total(const std::string& stage, const Case& problem, const StageTruth& rotated_q,
                        const StageTruth& rotated_k, const ScoreInputs& inputs) {
  const AttentionSizes n = sizes_of(problem);
  const ExactAttention attention(problem, inputs, n.heads);
  StageTruth out;
  out.shape = shape_of(stage, n);
  for (std::size_t b = 0; b < static_cast<std::size_t>(n.batch); ++b) {
    const std::vector<double> v = values_at_all_heads(inputs.v, problem, b);
    add_stage(stage, problem, attention,
              {part_of(rotated_q.values, b, n.of_q()), part_of(rotated_k.values, b, n.of_k()), v}, out.values);
  }
  return out;
}

std::optional<StageTruth> scores_local(const std::string& stage, const Case& problem, const Stages& observed,
                                       const ScoreInputs& inputs) {
  const AttentionSizes n = sizes_of(problem);
  const ExactAttention attention(problem, inputs, n.heads);
  StageTruth out;
  out.shape = shape_of(stage, n);
  const Tensor *q = find(observed, "rotated_q"), *k = find(observed, "rotated_k"), *s = find(observed, "scores"),
               *p = find(observed, "probabilities");
  const Tensor* before = stage == "probabilities" ? s : stage == "output" ? p : nullptr;
  if (!before && !(q && k)) return std::nullopt;
  const std::vector<double> first = to_doubles(before ? *before : *q);
  const std::vector<double> second = before ? std::vector<double>{} : to_doubles(*k);
  for (std::size_t b = 0; b < static_cast<std::size_t>(n.batch); ++b) {
    const std::vector<double> v = values_at_all_heads(inputs.v, problem, b);
    if (!before) {
      add_stage(stage, problem, attention, {Reals(part_of(first, b, n.of_q())), Reals(part_of(second, b, n.of_k())), v},
                out.values);
      continue;
    }
    const std::span<const double> mine = part_of(first, b, n.of_scores());
    append(out.values, stage == "probabilities" ? softmax_of(mine, attention.described()) : weighted(mine, v, n));
  }
  return out;
}

AttentionGradients gradients_total(const Case& problem, const StageTruth& rotated_q, const StageTruth& rotated_k,
                                   const ScoreInputs& inputs) {
  const AttentionSizes n = sizes_of(problem);
  const ExactAttention attention(problem, inputs, n.heads);
  AttentionGradients out;
  for (std::size_t b = 0; b < static_cast<std::size_t>(n.batch); ++b) {
    const std::vector<double> v = values_at_all_heads(inputs.v, problem, b);
    add_gradients(attention, {part_of(rotated_q.values, b, n.of_q()), part_of(rotated_k.values, b, n.of_k()), v},
                  part_of(inputs.grad_output, b, n.of_q()), {}, out);
  }
  return out;
}

std::optional<AttentionGradients> gradients_local(const std::string& stage, const Case& problem, const Stages& observed,
                                                  const ScoreInputs& inputs) {
  const Tensor *q = find(observed, "rotated_q"), *k = find(observed, "rotated_k"), *s = find(observed, "scores"),
               *p = find(observed, "probabilities");
  if (!q || !k) return std::nullopt;
  const AttentionSizes n = sizes_of(problem);
  const ExactAttention attention(problem, inputs, n.heads);
  const bool by_scores = s && !(p && stage == "grad_v");
  const std::vector<double> qs = to_doubles(*q), ks = to_doubles(*k),
                            weights = by_scores ? to_doubles(*s)
                                      : p       ? to_doubles(*p)
                                                : std::vector<double>{};
  AttentionGradients out;
  for (std::size_t b = 0; b < static_cast<std::size_t>(n.batch); ++b) {
    const std::vector<double> v = values_at_all_heads(inputs.v, problem, b);
    const auto mine = weights.empty() ? std::span<const double>{} : part_of(weights, b, n.of_scores());
    const Enclosures probabilities = by_scores ? softmax_of(mine, attention.described()) : Enclosures{};
    add_gradients(attention, {Reals(part_of(qs, b, n.of_q())), Reals(part_of(ks, b, n.of_k())), v},
                  part_of(inputs.grad_output, b, n.of_q()), by_scores ? Reals(probabilities) : Reals(mine), out);
  }
  return out;
}

}  // namespace ropewalk
