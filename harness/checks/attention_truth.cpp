// The exact rotation of queries and keys, its gradients, and attention over them.
#include <map>

#include "harness/cases/exact_attention.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/checks/score_truth.hpp"
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
Enclosures summed_groups(const std::vector<double>& values, std::size_t group, std::size_t dim) {
  Enclosures out;
  out.resize(values.size() / group);
  for (std::size_t i = 0; i < out.size(); ++i) {
    reference::Enclosure sum;
    for (std::size_t g = 0; g < group; ++g) sum = reference::sum(sum, {values[(i / dim * group + g) * dim + i % dim]});
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
    const std::vector<std::int64_t> positions = problem.positions.all();
    const reference::Table table(frequencies_of(problem.rope));
    proof_ += table.sparse(positions, exact_);
    for (const std::int64_t position : positions)
      bound_.insert(bound_.end(), static_cast<std::size_t>(exact_.pairs), position == 0 ? 0 : 0x1p-98);
    bound_ = repeated(bound_, attention_.batch);
    for (auto* part : {&exact_.cos, &exact_.cos_tail, &exact_.sin, &exact_.sin_tail})
      *part = repeated(*part, attention_.batch);
  }

  const StageTruth& total(const std::string& stage) override {
    auto [entry, is_new] = totals_.try_emplace(stage);
    if (!is_new) return entry->second;
    if (is_score_stage(stage))
      entry->second = scores_total(stage, problem_, total("rotated_q"), total("rotated_k"), vectors_.at("v").values);
    else
      entry->second = truth(stage, known(exact_.cos, exact_.cos_tail), known(exact_.sin, exact_.sin_tail));
    round(entry->second);
    return entry->second;
  }

  StageTruth local(const std::string& stage, const Stages& observed) override {
    if (is_score_stage(stage)) {
      auto from_observed = scores_local(stage, problem_, observed, vectors_.at("v").values);
      return from_observed ? std::move(*from_observed) : total(stage);
    }
    const auto cosine = observed.find("cos"), sine = observed.find("sin");
    if (cosine == observed.end() || sine == observed.end()) return total(stage);
    const auto c = repeated(to_doubles(cosine->second), attention_.batch);
    const auto s = repeated(to_doubles(sine->second), attention_.batch);
    return truth(stage, c, s);
  }

  bool only_moves(const std::string&, const Stages&) const override { return false; }

 private:
  Reals known(const std::vector<double>& head, const std::vector<double>& tail) const {
    Reals out(head, tail, 0);
    out.bound = bound_;
    return out;
  }

  // At position 0 nothing turns; a sum there may lie exactly between two numbers of the format.
  void keep_unturned(const Enclosures& in, Enclosures& out) const {
    const std::size_t rows = bound_.size() / static_cast<std::size_t>(exact_.pairs), width = in.size() / rows;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (bound_[i / width * static_cast<std::size_t>(exact_.pairs)] != 0) continue;
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

  StageTruth truth(const std::string& stage, const Reals& cosine, const Reals& sine) {
    const std::string from = stage == "rotated_q"   ? "q"
                             : stage == "rotated_k" ? "k"
                             : stage == "grad_q"    ? "grad_rotated_q"
                                                    : "grad_rotated_k";
    const Vectors& vectors = vectors_.at(from);
    const auto group = static_cast<std::size_t>(attention_.heads / attention_.kv_heads);
    const auto dim = static_cast<std::size_t>(problem_.rope.head_dim);
    reference::Rotation rotation = exact_rotation(problem_);
    rotation.conjugate = stage.starts_with("grad");
    StageTruth out;
    out.shape = vectors.shape;
    if (stage == "grad_k") {
      out.shape[2] = attention_.kv_heads;
      const Enclosures sums = summed_groups(vectors.values, group, dim);
      reference::rotate_vectors(rotation, Reals(sums), cosine, sine, out.values);
      keep_unturned(sums, out.values);
    } else {
      reference::rotate_vectors(rotation, Reals(vectors.values), cosine, sine, out.values);
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
  std::vector<double> bound_;  // of its cosines and sines: 0 at position 0
  std::map<std::string, StageTruth> totals_;
};

}  // namespace

std::unique_ptr<WholeTruth> make_attention_truth(const Case& problem, const Stages& inputs) {
  return std::make_unique<AttentionTruth>(problem, inputs);
}

}  // namespace ropewalk
