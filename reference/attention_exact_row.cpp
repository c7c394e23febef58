#include "reference/attention_exact_row.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/attention_rows.hpp"
#include "reference/rounding.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kExactBits = 3800;  // hold every sum of products of doubles up to 2^400, scaled, and every bias
constexpr int kFirstBits = 160, kMostBits = 1 << 14;

long exponent_of(const Real& x) { return mpfr_zero_p(raw(x)) ? -100000 : mpfr_get_exp(raw(x)); }

// sqrt(head_dim) if it is a whole number, else 0.
long whole_root(int head_dim) {
  const long root = std::lround(std::sqrt(static_cast<double>(head_dim)));
  return root * root == head_dim ? root : 0;
}

}  // namespace

ExactRow::ExactRow(const Attention& attention, const AttentionInputs& inputs, int head, std::int64_t query)
    : a_(attention),
      in_(inputs),
      head_(head),
      query_(query),
      sink_(attention.sinks.empty() ? -kInfinity : attention.sinks[static_cast<std::size_t>(head)]) {
  const KeyRange range = keys_of(a_, query);
  for (std::int64_t j = range.first; j < range.last; ++j) {
    if (!hidden(a_, head, query, j)) keys_.push_back(j);
  }
  sum_products();
}

// Each product is exact in 106 bits; the sum in as many as lie between the largest and the lowest bit of all.
void ExactRow::sum_products() {
  const auto dim = static_cast<std::size_t>(a_.head_dim);
  const auto kv_heads = static_cast<std::size_t>(a_.kv_heads);
  const auto kv_head = static_cast<std::size_t>(head_ / (a_.heads / a_.kv_heads));
  const double* const q = &in_.q.head[(static_cast<std::size_t>(query_) * static_cast<std::size_t>(a_.heads) +
                                       static_cast<std::size_t>(head_)) *
                                      dim];
  Real sum = real(kExactBits), product = real(106);
  for (const std::int64_t j : keys_) {
    const double* const k = &in_.k.head[(static_cast<std::size_t>(j) * kv_heads + kv_head) * dim];
    int highest = -100000, lowest = 100000;
    for (std::size_t c = 0; c < dim; ++c) {
      if (q[c] == 0 || k[c] == 0) continue;
      const int exponent = std::ilogb(q[c]) + std::ilogb(k[c]);
      highest = std::max(highest, exponent + 2);
      lowest = std::min(lowest, exponent - 104);
    }
    mpfr_set_prec(raw(sum), std::max(64, highest - lowest + 14));
    mpfr_set_zero(raw(sum), 1);
    for (std::size_t c = 0; c < dim; ++c) {
      if (q[c] == 0 || k[c] == 0) continue;
      mpfr_set_d(raw(product), q[c], MPFR_RNDN);
      mpfr_mul_d(raw(product), raw(product), k[c], MPFR_RNDN);
      mpfr_add(raw(sum), raw(sum), raw(product), MPFR_RNDN);
    }
    products_.push_back(sum);
  }
}

double ExactRow::v_at(std::size_t i, int channel) const {
  const std::int64_t kv_head = head_ / (a_.heads / a_.kv_heads);
  return in_.v[static_cast<std::size_t>((keys_[i] * a_.kv_heads + kv_head) * a_.values() + channel)];
}

Real ExactRow::bias_at(std::size_t i) const {
  Real bias = real(mask_at(a_, head_, query_, keys_[i]), kExactBits);
  if (!a_.alibi.empty()) {
    Real linear = real(a_.alibi[static_cast<std::size_t>(head_)], 128);
    mpfr_mul_si(raw(linear), raw(linear), keys_[i] - position_of(a_, query_), MPFR_RNDN);
    mpfr_add(raw(bias), raw(bias), raw(linear), MPFR_RNDN);
  }
  return bias;
}

// Working bits: those asked for, the logits' size, the number of sums, and 20 for a dozen roundings.
void ExactRow::evaluate(int bits) {
  bits_ = bits;
  long size = 1;
  std::vector<Real> biases;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    biases.push_back(bias_at(i));
    size = std::max(
        {size, exponent_of(products_[i]) + (a_.scale == 0 ? 0 : std::ilogb(a_.scale) + 1), exponent_of(biases.back())});
  }
  if (std::isfinite(sink_) && sink_ != 0) size = std::max<long>(size, std::ilogb(sink_) + 1);
  working_ = bits + static_cast<int>(size) + static_cast<int>(std::bit_width(keys_.size())) + 20;

  Real scale = real(a_.scale, working_), root = real(working_), largest = real(working_);
  if (a_.over_root) {
    mpfr_sqrt_ui(raw(root), static_cast<unsigned long>(a_.head_dim), MPFR_RNDN);
    mpfr_div(raw(scale), raw(scale), raw(root), MPFR_RNDN);
  }
  logits_.assign(keys_.size() + 1, real(working_));
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    mpfr_ptr const x = raw(logits_[i]);
    mpfr_mul(x, raw(products_[i]), raw(scale), MPFR_RNDN);
    if (a_.softcap != 0) {
      mpfr_div_d(x, x, a_.softcap, MPFR_RNDN);
      mpfr_tanh(x, x, MPFR_RNDN);
      mpfr_mul_d(x, x, a_.softcap, MPFR_RNDN);
    }
    mpfr_add(x, x, raw(biases[i]), MPFR_RNDN);
    if (i == 0 || mpfr_cmp(x, raw(largest)) > 0) mpfr_set(raw(largest), x, MPFR_RNDN);
  }
  mpfr_ptr const sink = raw(logits_.back());
  if (std::isfinite(sink_)) {
    mpfr_set_d(sink, sink_, MPFR_RNDN);
    if (keys_.empty() || mpfr_cmp(sink, raw(largest)) > 0) mpfr_set(raw(largest), sink, MPFR_RNDN);
  }
  weights_.assign(logits_.size(), real(working_));
  total_ = real(working_);
  for (std::size_t i = 0; i < (std::isfinite(sink_) ? logits_.size() : keys_.size()); ++i) {
    mpfr_ptr const x = raw(weights_[i]);
    mpfr_sub(x, raw(logits_[i]), raw(largest), MPFR_RNDN);
    exponential(x);
    mpfr_add(raw(total_), raw(total_), x, MPFR_RNDN);
  }
}

// exp of less than -(bits + 40) is below 2^-(bits + 57) and counts as 0.
void ExactRow::exponential(mpfr_ptr x) const {
  if (mpfr_cmp_si(x, -(bits_ + 40)) < 0) {
    mpfr_set_zero(x, 1);
  } else {
    mpfr_exp(x, x, MPFR_RNDN);
  }
}

Real ExactRow::probability(std::size_t i) const {
  Real p = real(working_);
  mpfr_div(raw(p), raw(weights_[i]), raw(total_), MPFR_RNDN);
  return p;
}

Real ExactRow::value(int channel, Real& error) const {
  Real value = real(working_), term = real(working_);
  double largest = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const double v = v_at(i, channel);
    largest = std::max(largest, std::fabs(v));
    mpfr_mul_d(raw(term), raw(weights_[i]), v, MPFR_RNDN);
    mpfr_add(raw(value), raw(value), raw(term), MPFR_RNDN);
  }
  mpfr_div(raw(value), raw(value), raw(total_), MPFR_RNDN);
  mpfr_set_d(raw(error), largest, MPFR_RNDU);
  mpfr_mul_2si(raw(error), raw(error), -bits_, MPFR_RNDU);
  return value;
}

// What the scaled product is divided by where logits are rational numbers, else 0.
long ExactRow::rational_root() const {
  if (a_.softcap != 0) return 0;
  if (!a_.over_root || a_.scale == 0) return 1;
  return whole_root(a_.head_dim);
}

// Where scale / root is irrational, or there is a softcap, the logit is no number of finitely many bits (c tanh(x / c)
// of an algebraic x that is not 0 is transcendental): more bits decide.
std::optional<int> ExactRow::side_of_score(std::size_t i, const Real& t) {
  if (const long root = rational_root(); root != 0) {
    Real left = real(kExactBits), right = bias_at(i);
    mpfr_mul_d(raw(left), raw(products_[i]), a_.scale, MPFR_RNDN);
    mpfr_sub(raw(right), raw(t), raw(right), MPFR_RNDN);
    mpfr_mul_si(raw(right), raw(right), root, MPFR_RNDN);
    return mpfr_cmp(raw(left), raw(right));
  }
  for (int bits = kFirstBits; bits <= kMostBits; bits *= 2) {
    evaluate(bits);
    Real rest = real(working_);
    mpfr_sub(raw(rest), raw(logits_[i]), raw(t), MPFR_RNDN);
    if (mpfr_zero_p(raw(rest)) == 0 && mpfr_get_exp(raw(rest)) > -bits + 1) return mpfr_sgn(raw(rest)) > 0 ? 1 : -1;
  }
  return std::nullopt;
}

// Logits are equal if and only if: the products and the biases are, where scale is irrational (or under a softcap);
// scale * product + bias is, a rational number, where it is not.
void ExactRow::group() {
  const long root = rational_root();
  const bool rational = root != 0;
  std::vector<Real> first, second;
  for (std::size_t i = 0; i <= keys_.size(); ++i) {
    const bool is_sink = i == keys_.size();
    if (is_sink && !std::isfinite(sink_)) break;
    Real product = real(kExactBits), bias = is_sink ? real(sink_, kExactBits) : bias_at(i);
    if (!is_sink) mpfr_set(raw(product), raw(products_[i]), MPFR_RNDN);
    if (rational) {
      mpfr_mul_d(raw(product), raw(product), a_.scale, MPFR_RNDN);
      mpfr_mul_si(raw(bias), raw(bias), root, MPFR_RNDN);
      mpfr_add(raw(product), raw(product), raw(bias), MPFR_RNDN);
      mpfr_set_zero(raw(bias), 1);
    }
    first.push_back(product);
    second.push_back(bias);
  }
  std::vector<std::size_t> order(first.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto compare = [&](std::size_t i, std::size_t j) {
    const int by_first = mpfr_cmp(raw(first[i]), raw(first[j]));
    return by_first != 0 ? by_first : mpfr_cmp(raw(second[i]), raw(second[j]));
  };
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return compare(i, j) < 0; });
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (n == 0 || compare(order[n - 1], order[n]) != 0) groups_.emplace_back();
    groups_.back().push_back(order[n]);
  }
}

// With a group's sum of v - t as its coefficient: the sum of exp(logit - largest logit of a nonzero coefficient) times
// the coefficient. Its first term is not small, so a few bits decide however small the weights of these groups are.
std::optional<int> ExactRow::side_of(int channel, const Real& t) {
  if (groups_.empty()) group();
  std::vector<std::size_t> members;
  std::vector<Real> coefficients;
  Real term = real(kExactBits);
  for (const std::vector<std::size_t>& g : groups_) {
    Real sum = real(kExactBits);
    for (const std::size_t i : g) {
      mpfr_d_sub(raw(term), i == keys_.size() ? 0 : v_at(i, channel), raw(t), MPFR_RNDN);
      mpfr_add(raw(sum), raw(sum), raw(term), MPFR_RNDN);
    }
    if (mpfr_zero_p(raw(sum)) != 0) continue;
    members.push_back(g.front());
    coefficients.push_back(sum);
  }
  if (members.empty()) return 0;
  for (int bits = kFirstBits; bits <= kMostBits; bits *= 2) {
    evaluate(bits);
    const Real* largest = &logits_[members.front()];
    for (const std::size_t i : members) {
      if (mpfr_cmp(raw(logits_[i]), raw(*largest)) > 0) largest = &logits_[i];
    }
    Real sum = real(working_), size = real(working_), x = real(working_);
    for (std::size_t n = 0; n < members.size(); ++n) {
      mpfr_sub(raw(x), raw(logits_[members[n]]), raw(*largest), MPFR_RNDN);
      exponential(raw(x));
      mpfr_mul(raw(x), raw(x), raw(coefficients[n]), MPFR_RNDN);
      mpfr_add(raw(sum), raw(sum), raw(x), MPFR_RNDN);
      mpfr_abs(raw(x), raw(coefficients[n]), MPFR_RNDU);
      mpfr_add(raw(size), raw(size), raw(x), MPFR_RNDU);
    }
    mpfr_mul_2si(raw(size), raw(size), -bits, MPFR_RNDU);
    if (mpfr_cmpabs(raw(sum), raw(size)) > 0) return mpfr_sgn(raw(sum)) > 0 ? 1 : -1;
  }
  return std::nullopt;
}

namespace {

double round_real(const Real& x, Format format) {
  const double head = mpfr_get_d(raw(x), MPFR_RNDN);
  const int side = mpfr_cmp_d(raw(x), head);
  return round_head_tail(head, side == 0 ? 0 : std::copysign(0x1p-1074, side), format);
}

// Neighbours of the format, whose middle is the only number in doubt between them.
bool adjacent(double down, double up, Format format) {
  if (!std::isfinite(down) || !std::isfinite(up)) return false;
  if (format == Format::float64) return std::nextafter(down, kInfinity) == up;
  const double middle = down + (up - down) / 2;
  return round_head_tail(middle, 0x1p-1074, format) == up && round_head_tail(middle, -0x1p-1074, format) == down;
}

// evaluate(bits, error) gives the value within the error; side(middle) the sign of the value less the middle.
template <class Evaluate, class Side>
RoundedChannel round_by(const Evaluate& evaluate, const Side& side, Format format) {
  RoundedChannel result;
  for (int bits = kFirstBits; bits <= kMostBits; bits *= 2) {
    Real error = real(64);
    const Real value = evaluate(bits, error);
    Real low = value, high = value;
    mpfr_sub(raw(low), raw(value), raw(error), MPFR_RNDD);
    mpfr_add(raw(high), raw(value), raw(error), MPFR_RNDU);
    const double down = round_real(low, format), up = round_real(high, format);
    result.value = round_real(value, format);
    if (down == up) {
      result.proven = true;
      return result;
    }
    if (!adjacent(down, up, format)) continue;
    Real middle = real(down, 64);
    mpfr_add_d(raw(middle), raw(middle), up, MPFR_RNDN);
    mpfr_div_2ui(raw(middle), raw(middle), 1, MPFR_RNDN);
    const std::optional<int> sign = side(middle);
    if (!sign) return result;
    return {*sign > 0 ? up : *sign < 0 ? down : round_real(middle, format), *sign == 0, true};
  }
  return result;
}

}  // namespace

RoundedChannel round_channel(ExactRow& row, int channel, Format format) {
  const auto evaluate = [&](int bits, Real& error) {
    row.evaluate(bits);
    return row.value(channel, error);
  };
  return round_by(
      evaluate, [&](const Real& middle) { return row.side_of(channel, middle); }, format);
}

RoundedChannel round_score(ExactRow& row, std::size_t i, Format format) {
  const auto evaluate = [&](int bits, Real& error) {
    if (row.only_bias(i)) return row.bias_at(i);
    row.evaluate(bits);
    mpfr_set_ui_2exp(raw(error), 1, -bits, MPFR_RNDU);
    return row.score(i);
  };
  return round_by(
      evaluate, [&](const Real& middle) { return row.side_of_score(i, middle); }, format);
}

}  // namespace ropewalk::reference
