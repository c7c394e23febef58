// The exact rotation of queries and keys, its gradients, and attention over them.
#include <map>

#include "harness/cases/exact_attention.hpp"
#include "harness/checks/score_truth.hpp"
#include "harness/checks/truth.hpp"
#include "harness/tensors/blocks.hpp"
#include "reference/certify.hpp"
#include "reference/enclosed.hpp"
#include "reference/rotation.hpp"

namespace ropewalk {
namespace {

using reference::Enclosures;
using reference::Reals;

// A tensor [batch, seq, heads, head_dim] as the reference takes it.
struct Vectors {
  Shape shape;
  std::vector<double> values;
};

// Cosines and sines for every row of batch and seq, from rows for seq alone.
std::vector<double> repeated(std::span<const double> rows, std::int64_t times) {
  return each_block_repeated(rows, rows.size(), static_cast<std::size_t>(times));
}

// Sums over the query heads that read one key head: [rows, kv_heads, group, dim] to [rows, kv_heads, dim].
Enclosures summed_groups(const Reals& values, std::size_t group, std::size_t dim) {
  Enclosures out;
  out.resize(values.size() / group);
  for (std::size_t i = 0; i < out.size(); ++i) {
    reference::Enclosure sum;
    for (std::size_t g = 0; g < group; ++g) {
      const std::size_t at = (i / dim * group + g) * dim + i % dim;
      sum = reference::sum(sum, {values.head[at], values.tail_at(at), values.bound_at(at)});
    }
    reference::put(out, i, sum);
  }
  return out;
}

Enclosures expanded_heads(const Enclosures& in, std::size_t group, std::size_t dim) {
  const auto repeated = [&](const std::vector<double>& part) {
    return each_block_repeated(std::span(part), dim, group);
  };
  return {repeated(in.head), repeated(in.tail), repeated(in.bound)};
}

class AttentionTruth final : public WholeTruth {
 public:
  AttentionTruth(const Case& problem, const Stages& inputs) : problem_(problem), attention_(*problem.attention) {
    for (const auto& [name, tensor] : inputs) vectors_[name] = {tensor.shape(), to_doubles(tensor)};
    Truth table(problem.rope, problem.positions);
    const std::int64_t rows = problem.positions.count();
    table.start_block(0, rows);
    exact_ = table.of_exact();
    proof_ += table.proof();
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
      for (const double position : table.positions_of_pairs(row))
        bound_.push_back(position == 0 && table.amplitude().exact() ? 0 : exact_.error);
    given_ = score_inputs(inputs);
  }

  const StageTruth& total(const std::string& stage) override {
    auto [entry, is_new] = totals_.try_emplace(stage);
    if (!is_new) return entry->second;
    if (is_score_stage(stage))
      entry->second = scores_total(stage, problem_, total("rotated_q"), total("rotated_k"), given_);
    else if (of_attention(stage))
      entry->second = turned_back(stage, total_gradients(), exact_turn(stage));
    else
      entry->second = truth(stage, exact_turn(stage));
    round(entry->second);
    return entry->second;
  }

  StageTruth local(const std::string& stage, const Stages& observed) override {
    if (is_score_stage(stage)) {
      auto from_observed = scores_local(stage, problem_, observed, given_);
      return from_observed ? std::move(*from_observed) : total(stage);
    }
    const auto cosine = observed.find("cos"), sine = observed.find("sin");
    if (cosine == observed.end() || sine == observed.end()) return total(stage);
    const Turn turn{rows_of(stage, to_doubles(cosine->second)), {}, rows_of(stage, to_doubles(sine->second)), {}, {}};
    if (!of_attention(stage)) return truth(stage, turn);
    const auto gradients = gradients_local(stage, problem_, observed, given_);
    return gradients ? turned_back(stage, *gradients, turn) : total(stage);
  }

  bool only_moves(const std::string&, const Stages&) const override { return false; }

 private:
  // Cosines and sines for every row of queries or of keys, of every batch entry. Bounds are 0 at position 0.
  struct Turn {
    std::vector<double> cos, cos_tail, sin, sin_tail, bound;
    Reals reals(const std::vector<double>& head, const std::vector<double>& tail) const {
      Reals out(head, tail, 0);
      out.bound = bound;
      return out;
    }
  };

  static bool of_queries(const std::string& stage) { return stage == "rotated_q" || stage == "grad_q"; }
  bool of_attention(const std::string& stage) const {
    return attention_.backward == "attention" && stage.starts_with("grad");
  }

  // From rows for every position, those of the stage's vectors.
  std::vector<double> rows_of(const std::string& stage, const std::vector<double>& all) const {
    if (!of_queries(stage)) return repeated(all, attention_.batch);
    const std::int64_t keys = problem_.positions.count();
    const std::size_t width = all.size() / static_cast<std::size_t>(keys);
    return repeated(std::span(all).subspan(static_cast<std::size_t>(attention_.first_query(keys)) * width,
                                           static_cast<std::size_t>(attention_.queries(keys)) * width),
                    attention_.batch);
  }

  Turn exact_turn(const std::string& stage) const {
    return {rows_of(stage, exact_.cos), rows_of(stage, exact_.cos_tail), rows_of(stage, exact_.sin),
            rows_of(stage, exact_.sin_tail), rows_of(stage, bound_)};
  }

  // At position 0 nothing turns; a sum there may lie exactly between two numbers of the format.
  void keep_unturned(const Enclosures& in, const Turn& turn, Enclosures& out) const {
    if (turn.bound.empty()) return;
    const auto pairs = static_cast<std::size_t>(exact_.pairs);
    const std::size_t rows = turn.bound.size() / pairs, width = in.size() / rows;
    const reference::Rotation how = exact_rotation(problem_);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t channel = i % static_cast<std::size_t>(how.head_dim);
      if (channel >= 2 * pairs) continue;
      const std::size_t pair = how.pairing == reference::Pairing::interleaved ? channel / 2 : channel % pairs;
      if (turn.bound[i / width * pairs + pair] != 0) continue;
      out.head[i] = in.head[i];
      out.tail[i] = in.tail[i];
      out.bound[i] = in.bound[i];
    }
  }

  void round(StageTruth& out) {
    const reference::Format format = format_of(problem_.dtype);
    for (std::size_t i = 0; i < out.values.size(); ++i) {
      const auto nearest = reference::round_within(out.values.head[i], out.values.tail[i], out.values.bound[i], format);
      ++(nearest ? proof_.fast : proof_.undecided);
      out.nearest.push_back(nearest.value_or(out.values.head[i]));
    }
  }

  reference::Rotation rotation(bool conjugate) const {
    reference::Rotation out = exact_rotation(problem_);
    out.conjugate = conjugate;
    return out;
  }

  const AttentionGradients& total_gradients() {
    if (!gradients_) gradients_ = gradients_total(problem_, total("rotated_q"), total("rotated_k"), given_);
    return *gradients_;
  }

  // Gradients by rotated vectors at all heads: summed over each group's heads, turned back.
  StageTruth turned_back(const std::string& stage, const AttentionGradients& gradients, const Turn& turn) const {
    const auto group = static_cast<std::size_t>(attention_.heads / attention_.kv_heads);
    const auto dim = static_cast<std::size_t>(problem_.rope.head_dim);
    StageTruth out;
    out.shape = vectors_.at(stage == "grad_q" ? "q" : "k").shape;
    if (stage == "grad_v") {
      out.values = summed_groups(Reals(gradients.v), group, dim);
      return out;
    }
    const Enclosures sums = stage == "grad_q" ? gradients.q : summed_groups(Reals(gradients.k), group, dim);
    reference::rotate_vectors(rotation(true), Reals(sums), turn.reals(turn.cos, turn.cos_tail),
                              turn.reals(turn.sin, turn.sin_tail), out.values);
    keep_unturned(sums, turn, out.values);
    return out;
  }

  StageTruth truth(const std::string& stage, const Turn& turn) const {
    if (stage == "grad_v") throw Refused("grad_v is a gradient of the whole attention: \"backward\": \"attention\"");
    const Reals cosine = turn.reals(turn.cos, turn.cos_tail), sine = turn.reals(turn.sin, turn.sin_tail);
    const std::string from = stage == "rotated_q"   ? "q"
                             : stage == "rotated_k" ? "k"
                             : stage == "grad_q"    ? "grad_rotated_q"
                                                    : "grad_rotated_k";
    const Vectors& vectors = vectors_.at(from);
    const auto group = static_cast<std::size_t>(attention_.heads / attention_.kv_heads);
    const auto dim = static_cast<std::size_t>(problem_.rope.head_dim);
    const reference::Rotation how = rotation(stage.starts_with("grad"));
    StageTruth out;
    out.shape = vectors.shape;
    if (stage == "grad_k") {
      out.shape[2] = attention_.kv_heads;
      const Enclosures sums = summed_groups(Reals(vectors.values), group, dim);
      reference::rotate_vectors(how, Reals(sums), cosine, sine, out.values);
      keep_unturned(sums, turn, out.values);
    } else {
      reference::rotate_vectors(how, Reals(vectors.values), cosine, sine, out.values);
    }
    if (stage == "rotated_k") {
      out.shape[2] = attention_.heads;
      out.values = expanded_heads(out.values, group, dim);
    }
    return out;
  }

  const Case& problem_;
  Attention attention_;
  std::map<std::string, Vectors> vectors_;
  reference::SinCos exact_;
  std::vector<double> bound_;  // of its cosines and sines: 0 where the pair's position is 0
  ScoreInputs given_;
  std::optional<AttentionGradients> gradients_;
  std::map<std::string, StageTruth> totals_;
};

}  // namespace

std::unique_ptr<WholeTruth> make_attention_truth(const Case& problem, const Stages& inputs) {
  return std::make_unique<AttentionTruth>(problem, inputs);
}

}  // namespace ropewalk
