// The stages before the output: logits and probabilities of whole problems.
#include <limits>

#include "reference/attention.hpp"
#include "reference/attention_logits.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

void store(Enclosures& out, std::size_t i, const Bounded& x) {
  const bool finite = std::isfinite(x.value.high);
  out.head[i] = x.value.high;
  out.tail[i] = finite ? x.value.low : 0;
  out.bound[i] = finite ? x.bound : 0;
}

// Calls row(head, query, logits, index of the row's key 0) for all rows.
template <class Row>
void for_each_row(const Attention& a, const AttentionInputs& inputs, Enclosures& out, const Row& row) {
  check(a, inputs);
  out.resize(static_cast<std::size_t>(a.heads * a.q_len * a.kv_len));
  for (int head = 0; head < a.heads; ++head) {
    for (std::int64_t query = 0; query < a.q_len; ++query) {
      const LogitRow logits = logits_of_row(a, inputs, head, query);
      row(head, query, logits, static_cast<std::size_t>((head * a.q_len + query) * a.kv_len));
    }
  }
}

}  // namespace

void attention_scores(const Attention& a, const AttentionInputs& inputs, Enclosures& scores) {
  for_each_row(a, inputs, scores, [&](int head, std::int64_t query, const LogitRow& logits, std::size_t to) {
    const double slope = a.alibi.empty() ? 0 : a.alibi[static_cast<std::size_t>(head)];
    const std::int64_t p = position_of(a, query);
    for (std::int64_t key = 0; key < a.kv_len; ++key) {
      const auto i = static_cast<std::size_t>(key - logits.keys.first);
      const bool seen = key >= logits.keys.first && key < logits.keys.last && logits.seen[i] != 0;
      Bounded x = {{-kInfinity, 0}, 0};
      if (seen) {
        x = sum(logits.capped[i], product({{slope, 0}, 0}, {{static_cast<double>(key - p), 0}, 0}));
        x = sum(x, {{mask_at(a, head, query, key), 0}, 0});
      }
      store(scores, to + static_cast<std::size_t>(key), x);
    }
  });
}

void attention_probabilities(const Attention& a, const AttentionInputs& inputs, Enclosures& probabilities) {
  for_each_row(a, inputs, probabilities, [&](int head, std::int64_t query, const LogitRow& logits, std::size_t to) {
    const bool undefined = undefined_row(a, head, logits);
    Bounded nothing;
    if (undefined && a.fully_masked == FullyMasked::nan) nothing.value.high = kNan;
    if (undefined && a.fully_masked == FullyMasked::mean) {
      const double n = static_cast<double>(a.kv_len), part = 1 / n;
      nothing = {{part, std::fma(-part, n, 1) / n}, 0x1p-104 * part};
    }
    const std::vector<Bounded> p = probabilities_of_row(a, inputs, head, query, logits);
    for (std::int64_t key = 0; key < a.kv_len; ++key) {
      const bool inside = !undefined && key >= logits.keys.first && key < logits.keys.last;
      store(probabilities, to + static_cast<std::size_t>(key),
            inside ? p[static_cast<std::size_t>(key - logits.keys.first)] : nothing);
    }
  });
}

}  // namespace ropewalk::reference
