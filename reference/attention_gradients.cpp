// With P the probabilities and G grad_output: dV = P' G; dP = G V'; dS = P (dP - sum P dP); dQ = scale dS K; dK = scale
// dS' Q. A softcap multiplies dS by its slope.
#include <stdexcept>

#include "reference/attention.hpp"
#include "reference/attention_logits.hpp"

namespace ropewalk::reference {
namespace {

Bounded exactly(double x) { return {{x, 0}, 0}; }

// to[c] += factor x[from + c]
void accumulate(std::vector<Bounded>& to, std::size_t at, const Bounded& factor, const Reals& x, std::size_t from,
                int count) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(count); ++c)
    to[at + c] = sum(to[at + c], product(factor, number_at(x, from + c)));
}

std::vector<Bounded> given(const Reals& probabilities, std::size_t row, const LogitRow& logits) {
  std::vector<Bounded> p(logits.capped.size());
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] = number_at(probabilities, row + static_cast<std::size_t>(logits.keys.first) + i);
  return p;
}

void store(const std::vector<Bounded>& from, Enclosures& to) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool finite = std::isfinite(from[i].value.high);
    to.head[i] = from[i].value.high;
    to.tail[i] = finite ? from[i].value.low : 0;
    to.bound[i] = finite ? from[i].bound : 0;
  }
}

}  // namespace

void attention_gradients(const Attention& a, const AttentionInputs& inputs, std::span<const double> grad_output,
                         Enclosures& grad_q, Enclosures& grad_k, Enclosures& grad_v, const Reals& probabilities) {
  check(a, inputs);
  if (probabilities.size() != 0 && static_cast<std::int64_t>(probabilities.size()) != a.heads * a.q_len * a.kv_len)
    throw std::invalid_argument("attention: probabilities have another size than the scores");
  const int values = a.values();
  if (static_cast<std::int64_t>(grad_output.size()) != a.q_len * a.heads * values)
    throw std::invalid_argument("attention: grad_output has another size than the output");
  std::vector<Bounded> dq(inputs.q.size()), dk(inputs.k.size()), dv(inputs.v.size());
  const DoubleDouble factor = scale_of(a);
  const Bounded scale = {factor, a.over_root ? 0x1p-106 * std::fabs(factor.high) : 0};
  for (int head = 0; head < a.heads; ++head) {
    for (std::int64_t query = 0; query < a.q_len; ++query) {
      const LogitRow logits = logits_of_row(a, inputs, head, query);
      if (logits.count == 0) continue;
      const std::vector<Bounded> p =
          probabilities.size() == 0
              ? probabilities_of_row(a, inputs, head, query, logits)
              : given(probabilities, static_cast<std::size_t>((head * a.q_len + query) * a.kv_len), logits);
      const std::size_t q = query_index(a, head, query), n = p.size();
      const auto g = static_cast<std::size_t>((query * a.heads + head) * values);
      const auto key = [&](std::size_t i) { return logits.keys.first + static_cast<std::int64_t>(i); };
      std::vector<Bounded> dp(n);
      Bounded mean;
      for (std::size_t i = 0; i < n; ++i) {
        if (logits.seen[i] == 0) continue;
        const std::size_t v = value_index(a, head, key(i));
        for (std::size_t c = 0; c < static_cast<std::size_t>(values); ++c)
          dp[i] = sum(dp[i], product(exactly(grad_output[g + c]), exactly(inputs.v[v + c])));
        mean = sum(mean, product(p[i], dp[i]));
        accumulate(dv, v, p[i], grad_output, g, values);
      }
      for (std::size_t i = 0; i < n; ++i) {
        if (logits.seen[i] == 0) continue;
        Bounded ds = product(p[i], sum(dp[i], negative(mean)));
        if (a.softcap != 0) ds = product(ds, logits.slope[i]);
        ds = product(ds, scale);
        const std::size_t k = key_index(a, head, key(i));
        accumulate(dq, q, ds, inputs.k, k, a.head_dim);
        accumulate(dk, k, ds, inputs.q, q, a.head_dim);
      }
    }
  }
  store(dq, grad_q);
  store(dk, grad_k);
  store(dv, grad_v);
}

}  // namespace ropewalk::reference
