#include "tests/reference/attention_oracle.hpp"

#include <algorithm>
#include <cmath>

namespace ropewalk::reference {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Of the least number of a format, added as a mask, the bits below a logit's have to remain.
thread_local int oracle_bits = kOracleBits;
Real zero() { return real(oracle_bits); }
void choose_bits(const Attention& a) {
  const bool huge =
      std::any_of(a.mask.begin(), a.mask.end(), [](double m) { return std::fabs(m) > 0x1p100 && std::isfinite(m); });
  oracle_bits = huge ? kOracleBits + 1100 : kOracleBits;
}

// The definition of who sees what, word for word.
bool sees(const Attention& a, std::int64_t head, std::int64_t i, std::int64_t j) {
  std::int64_t p = i + a.offset;
  if (a.causal == Causal::bottom_right) p += a.kv_len - a.q_len;
  if (a.causal != Causal::none && j > p) return false;
  if (a.window > 0 && j <= p - a.window) return false;
  const auto n = index(a.q_len * a.kv_len);
  const std::size_t at = index(i * a.kv_len + j);
  if (!a.allowed.empty() && a.allowed[a.allowed.size() == n ? at : index(head) * n + at] == 0) return false;
  return a.mask.empty() || std::isfinite(a.mask[a.mask.size() == n ? at : index(head) * n + at]);
}

// sum += a b
void accumulate(Real& sum, const Real& a, const Real& b) { mpfr_fma(raw(sum), raw(a), raw(b), raw(sum), MPFR_RNDN); }

Real scale_of_truth(const Attention& a) {
  Real scale = real(a.scale, kOracleBits), root = zero();
  mpfr_sqrt_ui(raw(root), static_cast<unsigned long>(a.head_dim), MPFR_RNDN);
  if (a.over_root) mpfr_div(raw(scale), raw(scale), raw(root), MPFR_RNDN);
  return scale;
}

// scale <q, k>, before the softcap.
Real product(const Attention& a, const Real& scale, const double* q, const double* k) {
  Real sum = zero(), term = zero();
  for (int c = 0; c < a.head_dim; ++c) {
    mpfr_set_d(raw(term), q[c], MPFR_RNDN);
    mpfr_mul_d(raw(term), raw(term), k[c], MPFR_RNDN);
    mpfr_add(raw(sum), raw(sum), raw(term), MPFR_RNDN);
  }
  mpfr_mul(raw(sum), raw(sum), raw(scale), MPFR_RNDN);
  return sum;
}

}  // namespace

AttentionTruth attention_truth(const Attention& a, const std::vector<double>& q, const std::vector<double>& k,
                               const std::vector<double>& v) {
  choose_bits(a);
  AttentionTruth t;
  const int group = a.heads / a.kv_heads, values = a.values();
  t.logits.assign(index(a.heads * a.q_len * a.kv_len), zero());
  t.probabilities = t.logits;
  t.seen.resize(t.logits.size());
  t.output.assign(index(a.q_len * a.heads * values), zero());
  const Real scale = scale_of_truth(a);
  for (std::int64_t h = 0; h < a.heads; ++h) {
    for (std::int64_t i = 0; i < a.q_len; ++i) {
      Real sum = zero(), largest = zero();
      std::int64_t seen = 0;
      const std::size_t row = index((h * a.q_len + i) * a.kv_len);
      for (std::int64_t j = 0; j < a.kv_len; ++j) {
        if (!sees(a, h, i, j)) continue;
        Real x = product(a, scale, &q[index((i * a.heads + h) * a.head_dim)],
                         &k[index((j * a.kv_heads + h / group) * a.head_dim)]);
        if (a.softcap != 0) {
          mpfr_div_d(raw(x), raw(x), a.softcap, MPFR_RNDN);
          mpfr_tanh(raw(x), raw(x), MPFR_RNDN);
          mpfr_mul_d(raw(x), raw(x), a.softcap, MPFR_RNDN);
        }
        const auto n = index(a.q_len * a.kv_len);
        const std::size_t at = index(i * a.kv_len + j);
        if (!a.mask.empty()) mpfr_add_d(raw(x), raw(x), a.mask[a.mask.size() == n ? at : index(h) * n + at], MPFR_RNDN);
        if (!a.alibi.empty()) {
          Real slope = real(a.alibi[index(h)], oracle_bits);
          const std::int64_t shift = a.causal == Causal::bottom_right ? a.kv_len - a.q_len : 0;
          mpfr_mul_si(raw(slope), raw(slope), j - i - a.offset - shift, MPFR_RNDN);
          mpfr_add(raw(x), raw(x), raw(slope), MPFR_RNDN);
        }
        t.logits[row + index(j)] = x;
        t.seen[row + index(j)] = 1;
        if (seen++ == 0 || mpfr_cmp(raw(x), raw(largest)) > 0) largest = x;
      }
      const bool sink = !a.sinks.empty() && std::isfinite(a.sinks[index(h)]);
      Real sink_weight = zero();
      if (sink) {
        mpfr_set_d(raw(sink_weight), a.sinks[index(h)], MPFR_RNDN);
        if (seen == 0 || mpfr_cmp(raw(sink_weight), raw(largest)) > 0) largest = sink_weight;
        mpfr_sub(raw(sink_weight), raw(sink_weight), raw(largest), MPFR_RNDN);
        mpfr_exp(raw(sink_weight), raw(sink_weight), MPFR_RNDN);
        mpfr_add(raw(sum), raw(sum), raw(sink_weight), MPFR_RNDN);
      }
      for (std::int64_t j = 0; j < a.kv_len; ++j) {
        if (t.seen[row + index(j)] == 0) continue;
        Real& p = t.probabilities[row + index(j)];
        mpfr_sub(raw(p), raw(t.logits[row + index(j)]), raw(largest), MPFR_RNDN);
        mpfr_exp(raw(p), raw(p), MPFR_RNDN);
        mpfr_add(raw(sum), raw(sum), raw(p), MPFR_RNDN);
      }
      const bool undefined = seen == 0 && !sink;
      for (std::int64_t j = 0; j < a.kv_len; ++j) {
        Real& p = t.probabilities[row + index(j)];
        if (undefined && a.fully_masked == FullyMasked::mean) {
          mpfr_set_si(raw(p), 1, MPFR_RNDN);
          mpfr_div_si(raw(p), raw(p), a.kv_len, MPFR_RNDN);
        } else if (undefined && a.fully_masked == FullyMasked::nan) {
          mpfr_set_nan(raw(p));
        } else if (t.seen[row + index(j)] != 0) {
          mpfr_div(raw(p), raw(p), raw(sum), MPFR_RNDN);
        }
        for (int c = 0; c < values; ++c) {
          const Real x = real(v[index((j * a.kv_heads + h / group) * values + c)], 53);
          accumulate(t.output[index((i * a.heads + h) * values + c)], p, x);
        }
      }
    }
  }
  return t;
}

// P dL/dP and so on, from the probabilities; rows whose softmax is undefined give nothing.
GradientTruth gradient_truth(const Attention& a, const AttentionTruth& truth, const std::vector<double>& q,
                             const std::vector<double>& k, const std::vector<double>& v,
                             const std::vector<double>& grad_output) {
  choose_bits(a);
  GradientTruth t;
  t.q.assign(q.size(), zero());
  t.k.assign(k.size(), zero());
  t.v.assign(v.size(), zero());
  const int group = a.heads / a.kv_heads, values = a.values();
  const Real scale = scale_of_truth(a);
  for (std::int64_t h = 0; h < a.heads; ++h) {
    for (std::int64_t i = 0; i < a.q_len; ++i) {
      const std::size_t row = index((h * a.q_len + i) * a.kv_len), g = index((i * a.heads + h) * values);
      const auto kv = [&](std::int64_t j, int width) { return index((j * a.kv_heads + h / group) * width); };
      std::vector<Real> dp(index(a.kv_len), zero());
      Real mean = zero();
      for (std::int64_t j = 0; j < a.kv_len; ++j) {
        if (truth.seen[row + index(j)] == 0) continue;
        const Real& p = truth.probabilities[row + index(j)];
        for (int c = 0; c < values; ++c) {
          const Real grad = real(grad_output[g + index(c)], 53);
          accumulate(dp[index(j)], grad, real(v[kv(j, values) + index(c)], 53));
          accumulate(t.v[kv(j, values) + index(c)], p, grad);
        }
        accumulate(mean, p, dp[index(j)]);
      }
      for (std::int64_t j = 0; j < a.kv_len; ++j) {
        if (truth.seen[row + index(j)] == 0) continue;
        const std::size_t query_at = index((i * a.heads + h) * a.head_dim), key_at = kv(j, a.head_dim);
        Real ds = zero(), slope = real(1, oracle_bits);
        mpfr_sub(raw(ds), raw(dp[index(j)]), raw(mean), MPFR_RNDN);
        mpfr_mul(raw(ds), raw(ds), raw(truth.probabilities[row + index(j)]), MPFR_RNDN);
        if (a.softcap != 0) {
          Real x = product(a, scale, &q[query_at], &k[key_at]);
          mpfr_div_d(raw(x), raw(x), a.softcap, MPFR_RNDN);
          mpfr_cosh(raw(slope), raw(x), MPFR_RNDN);
          mpfr_sqr(raw(slope), raw(slope), MPFR_RNDN);
          mpfr_ui_div(raw(slope), 1, raw(slope), MPFR_RNDN);
        }
        mpfr_mul(raw(ds), raw(ds), raw(slope), MPFR_RNDN);
        mpfr_mul(raw(ds), raw(ds), raw(scale), MPFR_RNDN);
        for (std::size_t c = 0; c < index(a.head_dim); ++c) {
          accumulate(t.q[query_at + c], ds, real(k[key_at + c], 53));
          accumulate(t.k[key_at + c], ds, real(q[query_at + c], 53));
        }
      }
    }
  }
  return t;
}

}  // namespace ropewalk::reference
