#include "reference/attention_logits.hpp"

#include <algorithm>
#include <limits>

#include "reference/attention_exact_row.hpp"
#include "reference/exponential.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kUnit = 0x1p-53;

Bounded to_bounded(const Real& x, double bound) {
  Real rest = x;
  const double high = mpfr_get_d(raw(x), MPFR_RNDN);
  mpfr_sub_d(raw(rest), raw(x), high, MPFR_RNDN);
  const double low = mpfr_get_d(raw(rest), MPFR_RNDN);
  return {{high, low}, bound + kUnit * kUnit * std::fabs(high) + 0x1p-1074};
}

// cap tanh(x / cap) and its derivative. tanh is Lipschitz with constant 1, its derivative with one below 0.77.
void soft_cap(double cap, Bounded& x, Bounded& slope) {
  constexpr int kBits = 240;
  Real y = real(x.value.high, kBits), z = real(kBits);
  mpfr_add_d(raw(y), raw(y), x.value.low, MPFR_RNDN);
  mpfr_div_d(raw(y), raw(y), cap, MPFR_RNDN);
  mpfr_tanh(raw(y), raw(y), MPFR_RNDN);
  mpfr_sqr(raw(z), raw(y), MPFR_RNDN);
  mpfr_ui_sub(raw(z), 1, raw(z), MPFR_RNDN);
  mpfr_mul_d(raw(y), raw(y), cap, MPFR_RNDN);
  const double inherited = x.bound;
  x = to_bounded(y, inherited);
  slope = to_bounded(z, 1.001 * inherited / cap + 0x1p-200);
}

}  // namespace

std::size_t query_index(const Attention& a, int head, std::int64_t query) {
  return static_cast<std::size_t>((query * a.heads + head) * a.head_dim);
}
std::size_t key_index(const Attention& a, int head, std::int64_t key) {
  return static_cast<std::size_t>((key * a.kv_heads + head / (a.heads / a.kv_heads)) * a.head_dim);
}
std::size_t value_index(const Attention& a, int head, std::int64_t key) {
  return static_cast<std::size_t>((key * a.kv_heads + head / (a.heads / a.kv_heads)) * a.values());
}

bool undefined_row(const Attention& a, int head, const LogitRow& logits) {
  return logits.count == 0 && (a.sinks.empty() || a.sinks[static_cast<std::size_t>(head)] == -kInfinity);
}

LogitRow logits_of_row(const Attention& a, const AttentionInputs& inputs, int head, std::int64_t query) {
  LogitRow row;
  row.keys = keys_of(a, query);
  const auto n = static_cast<std::size_t>(row.keys.last - row.keys.first);
  row.capped.resize(n);
  row.slope.resize(a.softcap != 0 ? n : 0);
  row.seen.resize(n);
  const DoubleDouble scale = scale_of(a);
  const Bounded factor = {scale, a.over_root ? kUnit * kUnit * std::fabs(scale.high) : 0};
  const std::size_t q = query_index(a, head, query);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t key = row.keys.first + static_cast<std::int64_t>(i);
    if (hidden(a, head, query, key)) continue;
    row.seen[i] = 1;
    ++row.count;
    const std::size_t k = key_index(a, head, key);
    Bounded dot;
    for (std::size_t c = 0; c < static_cast<std::size_t>(a.head_dim); ++c)
      dot = sum(dot, product(number_at(inputs.q, q + c), number_at(inputs.k, k + c)));
    row.capped[i] = product(dot, factor);
    if (a.softcap != 0 && std::isfinite(row.capped[i].value.high)) soft_cap(a.softcap, row.capped[i], row.slope[i]);
  }
  return row;
}

std::vector<Bounded> probabilities_of_row(const Attention& a, const AttentionInputs& inputs, int head,
                                          std::int64_t query, const LogitRow& logits) {
  const std::size_t n = logits.capped.size();
  std::vector<Bounded> p(n);
  if (logits.count == 0) return p;
  std::vector<double> bias(n), bias_low(n);
  const RowBias moved = bias_of(a, head, query, logits.keys, bias.data(), bias_low.data(), 1);
  const Bounded sink = {moved.sink, 8 * kUnit * kUnit * std::fabs(moved.sink.high)};
  double largest = sink.value.high;
  for (std::size_t i = 0; i < n; ++i) {
    if (logits.seen[i] == 0) continue;
    const Bounded added = {{bias[i], bias_low[i]}, 8 * kUnit * kUnit * (std::fabs(bias[i]) + moved.slope_part)};
    p[i] = sum(logits.capped[i], added);
    largest = std::max(largest, p[i].value.high);
    if (!std::isfinite(p[i].value.high)) largest = p[i].value.high = std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(largest)) break;
  }
  if (std::isnan(largest)) {
    std::fill(p.begin(), p.end(), Bounded{{largest, 0}, 0});
    return p;
  }
  double error = 0;  // of any logit whose weight matters
  Bounded total;
  const auto weight = [&](const Bounded& logit) -> Bounded {
    const Bounded x = sum(logit, {{-largest, 0}, 0});
    if (x.value.high < kLeastExponent + 10) return {{0, 0}, 1e-290};
    error = std::max(error, x.bound);
    return {exponential(x.value.high, x.value.low, &exponential_table()), 0};
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (logits.seen[i] == 0) continue;
    p[i] = weight(p[i]);
    total = sum(total, p[i]);
  }
  if (std::isfinite(sink.value.high)) total = sum(total, weight(sink));
  if (!(error < 0x1p-40) && inputs.q.exact() && inputs.k.exact()) {
    ExactRow row(a, inputs, head, query);
    row.evaluate(160);
    std::size_t next = 0;
    for (std::size_t i = 0; i < n; ++i)
      p[i] = logits.seen[i] == 0 ? Bounded{} : to_bounded(row.probability(next++), 0x1p-160);
    return p;
  }
  // Each weight is off by the factor exp(error) (1 + 2^-69), so is the total; and the quotient by 12 u^2.
  const double relative = error < 0.1 ? 2.3 * (error + 0x1p-69) + 2 * total.bound + 12 * kUnit * kUnit : 2;
  const double denominator = total.value.high;
  for (Bounded& x : p) {
    const double quotient = x.value.high / denominator;
    const double left = std::fma(-quotient, denominator, x.value.high) + (x.value.low - quotient * total.value.low);
    x.value = two_sum(quotient, left / denominator);
    x.bound = relative > 1 ? 1 : relative * x.value.high + x.bound;
  }
  return p;
}

}  // namespace ropewalk::reference
