#include "reference/attention_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "reference/real.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument("attention: " + what);
}

void require_size(std::size_t got, std::int64_t wanted, const char* what) {
  require(static_cast<std::int64_t>(got) == wanted,
          std::string(what) + " has " + std::to_string(got) + " numbers, not " + std::to_string(wanted));
}

void check_reals(const Reals& x, std::int64_t wanted, const char* what) {
  require_size(x.head.size(), wanted, what);
  if (!x.tail.empty()) require_size(x.tail.size(), wanted, what);
  if (!x.bound.empty()) require_size(x.bound.size(), wanted, what);
}

// The masks' index: one for all heads, or one for each.
std::size_t mask_index(const Attention& a, std::size_t size, int head, std::int64_t query, std::int64_t key) {
  const bool per_head = static_cast<std::int64_t>(size) != a.q_len * a.kv_len;
  return static_cast<std::size_t>(((per_head ? head * a.q_len : 0) + query) * a.kv_len + key);
}

template <class T>
void check_mask(const Attention& a, std::span<const T> mask, const char* what) {
  if (mask.empty()) return;
  const std::int64_t one = a.q_len * a.kv_len, n = static_cast<std::int64_t>(mask.size());
  require(n == one || n == a.heads * one, std::string(what) + " has " + std::to_string(n) + " numbers, neither " +
                                              std::to_string(one) + " nor " + std::to_string(a.heads * one));
}

}  // namespace

void check(const Attention& a, const AttentionInputs& inputs) {
  require(a.q_len >= 0 && a.kv_len >= 0, "negative length");
  require(a.q_len <= (1 << 28) && a.kv_len <= (1 << 20), "more than 2^28 queries or 2^20 keys");
  require(a.heads >= 1 && a.kv_heads >= 1 && a.heads % a.kv_heads == 0,
          std::to_string(a.heads) + " heads are no multiple of " + std::to_string(a.kv_heads) + " key-value heads");
  require(a.head_dim >= 1 && a.head_dim <= 4096 && a.values() >= 1, "head_dim is not between 1 and 4096");
  require(std::isfinite(a.scale) && std::fabs(a.scale) <= 0x1p100 && (a.scale == 0 || std::fabs(a.scale) >= 0x1p-100),
          "scale is neither 0 nor between 2^-100 and 2^100 in size");
  require(a.softcap == 0 || (a.softcap >= 0x1p-100 && a.softcap <= 0x1p100), "softcap is not between 2^-100 and 2^100");
  require(a.window >= 0, "negative window");
  check_reals(inputs.q, a.q_len * a.heads * a.head_dim, "q");
  check_reals(inputs.k, a.kv_len * a.kv_heads * a.head_dim, "k");
  require_size(inputs.v.size(), a.kv_len * a.kv_heads * a.values(), "v");
  const auto moderate = [](double x) { return !(std::fabs(x) > 0x1p400) || std::isinf(x); };  // products stay finite
  for (const auto& numbers : {inputs.q.head, inputs.k.head, inputs.v})
    require(std::all_of(numbers.begin(), numbers.end(), moderate), "q, k or v has a finite number beyond 2^400");
  check_mask(a, a.mask, "mask");
  check_mask(a, a.allowed, "allowed");
  if (!a.alibi.empty()) require_size(a.alibi.size(), a.heads, "alibi");
  if (!a.sinks.empty()) require_size(a.sinks.size(), a.heads, "sinks");
  const auto usable = [](double x) { return x == -kInfinity || std::isfinite(x); };
  require(std::all_of(a.mask.begin(), a.mask.end(), usable), "mask has NaN or +infinity");
  require(std::all_of(a.sinks.begin(), a.sinks.end(), usable), "sinks have NaN or +infinity");
  require(std::all_of(a.alibi.begin(), a.alibi.end(), [](double x) { return std::isfinite(x); }),
          "alibi has a slope that is not finite");
}

std::int64_t position_of(const Attention& a, std::int64_t query) {
  return query + a.offset + (a.causal == Causal::bottom_right ? a.kv_len - a.q_len : 0);
}

KeyRange keys_of(const Attention& a, std::int64_t query) {
  const std::int64_t p = position_of(a, query);
  KeyRange keys = {0, a.kv_len};
  if (a.causal != Causal::none) keys.last = std::clamp<std::int64_t>(p + 1, 0, a.kv_len);
  if (a.window > 0) keys.first = std::clamp<std::int64_t>(p - a.window + 1, 0, keys.last);
  return keys;
}

bool has_bias(const Attention& a) { return !a.mask.empty() || !a.allowed.empty() || !a.alibi.empty(); }

double mask_at(const Attention& a, int head, std::int64_t query, std::int64_t key) {
  return a.mask.empty() ? 0 : a.mask[mask_index(a, a.mask.size(), head, query, key)];
}

bool hidden(const Attention& a, int head, std::int64_t query, std::int64_t key) {
  if (!a.allowed.empty() && a.allowed[mask_index(a, a.allowed.size(), head, query, key)] == 0) return true;
  return mask_at(a, head, query, key) == -kInfinity;
}

// Two moves, each exact in double-double or nearly: by the largest number of the mask, so that a row masked by the
// smallest number of a format alone keeps all digits, then by the largest sum.
RowBias bias_of(const Attention& a, int head, std::int64_t query, KeyRange keys, double* high, double* low,
                std::int64_t stride) {
  RowBias row;
  const std::int64_t p = position_of(a, query);
  const double slope = a.alibi.empty() ? 0 : a.alibi[static_cast<std::size_t>(head)];
  double first_move = -kInfinity;
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    if (hidden(a, head, query, j)) continue;
    first_move = std::max(first_move, mask_at(a, head, query, j));
    ++row.seen;
    row.a_key = j;
  }
  if (row.seen == 0) first_move = 0;
  double second_move = -kInfinity;
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    double &h = high[(j - keys.first) * stride], &l = low[(j - keys.first) * stride];
    l = 0;
    h = -kInfinity;
    if (hidden(a, head, query, j)) continue;
    const DoubleDouble linear = two_product(slope, static_cast<double>(j - p));
    row.slope_part = std::max(row.slope_part, std::fabs(linear.high));
    const DoubleDouble sum = add(two_sum(mask_at(a, head, query, j), -first_move), linear);
    const DoubleDouble bias = two_sum(sum.high, sum.low);
    h = bias.high;
    l = bias.low;
    second_move = std::max(second_move, h);
  }
  if (row.seen == 0) second_move = 0;
  const auto moved = [&](DoubleDouble x) {
    const DoubleDouble sum = add(x, {-second_move, 0});
    return two_sum(sum.high, sum.low);
  };
  for (std::int64_t j = 0; j < keys.last - keys.first; ++j) {
    double &h = high[j * stride], &l = low[j * stride];
    if (h == -kInfinity) continue;
    const DoubleDouble x = moved({h, l});
    h = x.high;
    l = x.low;
    row.largest = std::max(row.largest, std::fabs(h));
  }
  const double sink = a.sinks.empty() ? -kInfinity : a.sinks[static_cast<std::size_t>(head)];
  row.sink = sink == -kInfinity ? DoubleDouble{-kInfinity, 0} : moved(two_sum(sink, -first_move));
  return row;
}

DoubleDouble scale_of(const Attention& a) {
  if (!a.over_root) return {a.scale, 0};
  Real x = real(300);
  mpfr_set_si(raw(x), a.head_dim, MPFR_RNDN);
  mpfr_sqrt(raw(x), raw(x), MPFR_RNDN);
  mpfr_d_div(raw(x), a.scale, raw(x), MPFR_RNDN);
  const double high = mpfr_get_d(raw(x), MPFR_RNDN);
  mpfr_sub_d(raw(x), raw(x), high, MPFR_RNDN);
  return {high, mpfr_get_d(raw(x), MPFR_RNDN)};
}

}  // namespace ropewalk::reference
