#include "reference/attention_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "reference/attention_exact_row.hpp"
#include "reference/attention_logits.hpp"
#include "reference/dot.hpp"

namespace ropewalk::reference {
namespace {

void check_exact(const Attention& a, const AttentionInputs& inputs) {
  check(a, inputs);
  const auto finite = [](std::span<const double> x) {
    return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
  };
  if (!inputs.q.exact() || !inputs.k.exact() || !finite(inputs.q.head) || !finite(inputs.k.head) || !finite(inputs.v))
    throw std::invalid_argument("attention: only of exact and finite q, k and v are stages rounded correctly");
}

// Rounds elements by their enclosures; those that stay open are named.
class Rounder {
 public:
  Rounder(const Enclosures& values, Format format, std::span<double> out)
      : values_(values), format_(format), out_(out) {
    if (out.size() != values.size()) throw std::invalid_argument("attention: the rounded stage has another size");
  }

  bool open(std::size_t i) {
    const Enclosure v = at(values_, i);
    if (std::isnan(v.head)) return ++proof_.exact, out_[i] = v.head, false;
    const std::optional<double> rounded = round_enclosed(format_, v);
    if (!rounded) return true;
    ++(v.bound == 0 ? proof_.exact : proof_.fast);
    proof_.midpoints += int{v.bound == 0 && is_tie(format_, v.head, v.tail)};
    out_[i] = *rounded;
    return false;
  }
  void decide(std::size_t i, const RoundedChannel& decided) {
    out_[i] = decided.value;
    ++(decided.proven ? proof_.fallback : proof_.undecided);
    proof_.midpoints += int{decided.tie};
  }
  const Proof& proof() const { return proof_; }

 private:
  const Enclosures& values_;
  Format format_;
  std::span<double> out_;
  Proof proof_;
};

// What decides a row's open elements. A row that sees no key has some only where it gives the mean of all v: as if it
// saw all keys with a logit of 0.
Attention deciding(const Attention& a, int head, std::int64_t query) {
  const KeyRange range = keys_of(a, query);
  for (std::int64_t key = range.first; key < range.last; ++key)
    if (!hidden(a, head, query, key)) return a;
  Attention mean = a;
  mean.scale = mean.softcap = 0;
  mean.causal = Causal::none;
  mean.window = 0;
  mean.mask = mean.alibi = mean.sinks = {};
  mean.allowed = {};
  return mean;
}

// exact(row, open keys, index of the row's key 0) for the rows of scores or probabilities that have such keys.
template <class Exact>
Proof round_keys(const Attention& a, Rounder& rounder, const Exact& exact) {
  std::vector<std::int64_t> open;
  for (int head = 0; head < a.heads; ++head) {
    for (std::int64_t query = 0; query < a.q_len; ++query) {
      const auto first = static_cast<std::size_t>((head * a.q_len + query) * a.kv_len);
      open.clear();
      for (std::int64_t key = 0; key < a.kv_len; ++key)
        if (rounder.open(first + static_cast<std::size_t>(key))) open.push_back(key);
      if (!open.empty()) exact(head, query, open, first);
    }
  }
  return rounder.proof();
}

}  // namespace

Proof attention_scores_rounded(const Attention& a, const AttentionInputs& inputs, Format format,
                               std::span<double> scores) {
  check_exact(a, inputs);
  Enclosures values;
  attention_scores(a, inputs, values);
  Rounder rounder(values, format, scores);
  return round_keys(
      a, rounder, [&](int head, std::int64_t query, const std::vector<std::int64_t>& open, std::size_t first) {
        ExactRow row(a, inputs, head, query);
        for (const std::int64_t key : open) {
          const auto i = std::lower_bound(row.keys().begin(), row.keys().end(), key) - row.keys().begin();
          rounder.decide(first + static_cast<std::size_t>(key), round_score(row, static_cast<std::size_t>(i), format));
        }
      });
}

// A probability is the output for a v that is 1 at its key and 0 at the others.
Proof attention_probabilities_rounded(const Attention& a, const AttentionInputs& inputs, Format format,
                                      std::span<double> probabilities) {
  check_exact(a, inputs);
  Enclosures values;
  attention_probabilities(a, inputs, values);
  Rounder rounder(values, format, probabilities);
  return round_keys(
      a, rounder, [&](int head, std::int64_t query, const std::vector<std::int64_t>& open, std::size_t first) {
        Attention selecting = deciding(a, head, query);
        selecting.value_dim = static_cast<int>(open.size());
        const std::size_t width = open.size(), heads = static_cast<std::size_t>(a.kv_heads);
        std::vector<double> v(static_cast<std::size_t>(a.kv_len) * heads * width);
        for (std::size_t c = 0; c < width; ++c)
          for (std::size_t h = 0; h < heads; ++h) v[(static_cast<std::size_t>(open[c]) * heads + h) * width + c] = 1;
        ExactRow row(selecting, {inputs.q, inputs.k, v}, head, query);
        for (std::size_t c = 0; c < width; ++c)
          rounder.decide(first + static_cast<std::size_t>(open[c]), round_channel(row, static_cast<int>(c), format));
      });
}

Proof attention_output_rounded(const Attention& a, const AttentionInputs& inputs, Format format,
                               std::span<double> output) {
  check_exact(a, inputs);
  Enclosures probabilities, values;
  attention_probabilities(a, inputs, probabilities);
  const auto keys = static_cast<std::size_t>(a.kv_len), width = static_cast<std::size_t>(a.values()),
             heads = static_cast<std::size_t>(a.heads), queries = static_cast<std::size_t>(a.q_len);
  values.resize(queries * heads * width);
  std::vector<double> v(keys * width);
  for (std::size_t head = 0; head < heads; ++head) {
    Enclosures weights;
    weights.resize(queries * keys);
    for (std::size_t i = 0; i < weights.size(); ++i) put(weights, i, at(probabilities, head * weights.size() + i));
    for (std::size_t key = 0; key < keys; ++key)
      std::copy_n(&inputs.v[value_index(a, static_cast<int>(head), static_cast<std::int64_t>(key))], width,
                  &v[key * width]);
    const Enclosures sums = product(weights, v, {a.q_len, a.kv_len, a.values()});
    for (std::size_t query = 0; query < queries; ++query) {
      const bool nan = keys > 0 && std::isnan(weights.head[query * keys]);
      for (std::size_t c = 0; c < width; ++c)
        put(values, (query * heads + head) * width + c,
            nan ? Enclosure{weights.head[query * keys]} : at(sums, query * width + c));
    }
  }
  Rounder rounder(values, format, output);
  for (std::int64_t query = 0; query < a.q_len; ++query) {
    for (int head = 0; head < a.heads; ++head) {
      const std::size_t first = (static_cast<std::size_t>(query) * heads + static_cast<std::size_t>(head)) * width;
      std::optional<Attention> decided_by;
      std::optional<ExactRow> row;
      for (std::size_t c = 0; c < width; ++c) {
        if (!rounder.open(first + c)) continue;
        if (!row) row.emplace(decided_by.emplace(deciding(a, head, query)), inputs, head, query);
        rounder.decide(first + c, round_channel(*row, static_cast<int>(c), format));
      }
    }
  }
  return rounder.proof();
}

}  // namespace ropewalk::reference
