// The kernels' text, compiled once for each instruction set by files that define ROPEWALK_KERNELS, a namespace, and
// Eigen, a name of its own for the library's: the linker must not merge code for different processors.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <cmath>

#include "reference/attention_kernels.hpp"

namespace ropewalk::reference::ROPEWALK_KERNELS {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd>;  // column-major
using Given = Eigen::Map<const Eigen::MatrixXd>;

constexpr double kHidden = -HUGE_VAL;

// Row-major [rows][columns] is column-major [columns][rows].
Given transposed(const double* data, int rows, int columns) { return {data, columns, rows}; }

struct Rows {
  double largest[kBlockRows], sum[kBlockRows], sum_low[kBlockRows], rest[kBlockRows];
  explicit Rows(int rows) {
    for (int i = 0; i < rows; ++i) {
      largest[i] = kHidden;
      sum[i] = sum_low[i] = rest[i] = 0;
    }
  }
};

// Where no key is seen any number will do for the largest.
void include_sinks(const AttentionBlock& b, Rows& rows) {
  for (int i = 0; i < b.rows; ++i) {
    if (b.sink[i] > rows.largest[i]) rows.largest[i] = b.sink[i];
    if (rows.largest[i] == kHidden) rows.largest[i] = 0;
  }
}

template <bool kCap, bool kBias>
ROPEWALK_INLINE double logit(const AttentionBlock& b, double product, double bias) {
  double x = product * b.scale.high;
  if constexpr (kCap) x = soft_capped(x, b.softcap, b.table);
  if constexpr (kBias) x += bias;
  return x;
}

template <bool kCap, bool kBias>
void logits1(const AttentionBlock& b, Rows& rows) {
  for (int j = 0; j < b.keys; ++j) {
    double* const x = b.weights + static_cast<std::int64_t>(j) * b.rows;
    const double* const bias = kBias ? b.bias + static_cast<std::int64_t>(j) * b.rows : x;
    const double key = j;
#pragma omp simd
    for (int i = 0; i < b.rows; ++i) {
      const bool seen = (key >= b.first[i]) & (key < b.last[i]);
      const double value = logit<kCap, kBias>(b, x[i], bias[i]);
      x[i] = seen ? value : kHidden;
      rows.largest[i] = x[i] > rows.largest[i] ? x[i] : rows.largest[i];
    }
  }
}

void tier1(const AttentionBlock& b) {
  Rows rows(b.rows);
  Matrix x(b.weights, b.rows, b.keys);
  x.noalias() = transposed(b.q, b.rows, b.dim).transpose() * transposed(b.k, b.keys, b.dim);
  if (b.softcap != 0) {
    b.bias != nullptr ? logits1<true, true>(b, rows) : logits1<true, false>(b, rows);
  } else {
    b.bias != nullptr ? logits1<false, true>(b, rows) : logits1<false, false>(b, rows);
  }
  include_sinks(b, rows);

  Matrix out(b.head, b.rows, b.values), part(b.part, b.rows, b.values);
  out.setZero();
  const Given v = transposed(b.v, b.keys, b.values);
  for (int begin = 0; begin < b.keys; begin += kBlockKeys) {
    const int n = b.keys - begin < kBlockKeys ? b.keys - begin : kBlockKeys;
    double sum[kBlockRows] = {};
    for (int j = begin; j < begin + n; ++j) {
      double* const w = b.weights + static_cast<std::int64_t>(j) * b.rows;
#pragma omp simd
      for (int i = 0; i < b.rows; ++i) {
        const double weight = exponential(w[i] - rows.largest[i], 0, b.table).high;
        w[i] = w[i] == kHidden ? 0 : weight;
        sum[i] += w[i];
      }
    }
    for (int i = 0; i < b.rows; ++i) rows.sum[i] += sum[i];
    part.noalias() = x.middleCols(begin, n) * v.middleCols(begin, n).transpose();
    out += part;
  }
  for (int i = 0; i < b.rows; ++i) {
    if (b.sink[i] != kHidden) rows.sum[i] += exponential(b.sink[i] - rows.largest[i], 0, b.table).high;
    b.sum[i] = rows.sum[i];
  }
  out.array().colwise() /= Eigen::Map<const Eigen::ArrayXd>(rows.sum, b.rows);
}

template <bool kCap, bool kBias>
ROPEWALK_INLINE DoubleDouble logit(const AttentionBlock& b, double high, double low, double bias, double bias_low) {
  DoubleDouble x = normalised(multiply(two_sum(high, low), b.scale));
  if constexpr (kCap) x = soft_capped(x, b.softcap, b.inverse_softcap, b.table);
  if constexpr (kBias) x = add(x, {bias, bias_low});
  return kBias ? two_sum(x.high, x.low) : x;
}

template <bool kCap, bool kBias, bool kLow>
void logits2(const AttentionBlock& b, Rows& rows) {
  for (int j = 0; j < b.keys; ++j) {
    const std::int64_t column = static_cast<std::int64_t>(j) * b.rows;
    double *const high = b.weights + column, *const low = b.weights_low + column;
    const double* const bias = kBias ? b.bias + column : high;
    const double* const bias_low = kBias ? b.bias_low + column : low;
    const double key = j;
#pragma omp simd
    for (int i = 0; i < b.rows; ++i) {
      const bool seen = (key >= b.first[i]) & (key < b.last[i]) & (!kBias || bias[i] != kHidden);
      const DoubleDouble x = logit<kCap, kBias>(b, high[i], kLow ? low[i] : 0, bias[i], bias_low[i]);
      high[i] = seen ? x.high : kHidden;
      low[i] = x.low;
      rows.largest[i] = high[i] > rows.largest[i] ? high[i] : rows.largest[i];
    }
  }
}

// The weights of column j, cut into a multiple of 2^-kValueBits and the rest.
ROPEWALK_INLINE void cut_weight(double& high, double& low, double largest, double& sum, double& sum_low, double& rest,
                                const ExponentialTable* table) {
  const DoubleDouble x = two_sum(high, -largest);
  DoubleDouble w = exponential(x.high, x.low + low, table);
  w.high = high == kHidden ? 0 : w.high;
  w.low = high == kHidden ? 0 : w.low;
  constexpr double kCut = 0x1.8p52 / (1 << kValueBits);
  high = (w.high + kCut) - kCut;
  low = (w.high - high) + w.low;
  const DoubleDouble s = two_sum(sum, w.high);
  sum = s.high;
  sum_low += s.low + w.low;
  rest += std::fabs(low);
}

ROPEWALK_INLINE void add_part(double& head, double& tail, double part) {
  const DoubleDouble s = two_sum(head, part);
  head = s.high;
  tail += s.low;
}

bool is_zero(const Low& low) { return low.dense == nullptr && low.count == 0; }

// Products of the slices: exact in weights, rounded in weights_low. Returns whether there are any of the latter:
// sixteen bits leave nothing for a second slice.
bool products(const AttentionBlock& b) {
  Matrix high(b.weights, b.rows, b.keys), low(b.weights_low, b.rows, b.keys);
  const Given k = transposed(b.k, b.keys, b.dim), q_high = transposed(b.q_high, b.rows, b.dim);
  high.noalias() = q_high.transpose() * transposed(b.k_high, b.keys, b.dim);
  if (is_zero(b.q_low) && is_zero(b.k_low)) return false;
  if (b.q_low.dense != nullptr) {
    low.noalias() = transposed(b.q_low.dense, b.rows, b.dim).transpose() * k;
  } else {
    low.setZero();
    for (std::int64_t e = 0; e < b.q_low.count; ++e) {
      const Entry& entry = b.q_low.entries[e];
      low.row(entry.row) += entry.value * k.row(entry.column);
    }
  }
  if (b.k_low.dense != nullptr) {
    low.noalias() += q_high.transpose() * transposed(b.k_low.dense, b.keys, b.dim);
  } else {
    for (std::int64_t e = 0; e < b.k_low.count && b.k_low.entries[e].row - b.k_low.origin < b.keys; ++e) {
      const Entry& entry = b.k_low.entries[e];
      low.col(entry.row - b.k_low.origin) += entry.value * q_high.row(entry.column).transpose();
    }
  }
  return true;
}

template <bool kCap, bool kBias>
void logits2(const AttentionBlock& b, bool low, Rows& rows) {
  low ? logits2<kCap, kBias, true>(b, rows) : logits2<kCap, kBias, false>(b, rows);
}

void tier2(const AttentionBlock& b) {
  Rows rows(b.rows);
  const bool with_low = products(b);
  if (b.softcap != 0) {
    b.bias != nullptr ? logits2<true, true>(b, with_low, rows) : logits2<true, false>(b, with_low, rows);
  } else {
    b.bias != nullptr ? logits2<false, true>(b, with_low, rows) : logits2<false, false>(b, with_low, rows);
  }
  include_sinks(b, rows);

  const Matrix w_high(b.weights, b.rows, b.keys), w_low(b.weights_low, b.rows, b.keys);
  Matrix head(b.head, b.rows, b.values), tail(b.tail, b.rows, b.values), part(b.part, b.rows, b.values);
  head.setZero();
  tail.setZero();
  const Given v = transposed(b.v, b.keys, b.values), v_high = transposed(b.v_high, b.keys, b.values);
  const int size = b.rows * b.values;
  std::int64_t entry = 0;
  for (int begin = 0; begin < b.keys; begin += kBlockKeys) {
    const int n = b.keys - begin < kBlockKeys ? b.keys - begin : kBlockKeys;
    for (int j = begin; j < begin + n; ++j) {
      double* const high = b.weights + static_cast<std::int64_t>(j) * b.rows;
      double* const low = b.weights_low + static_cast<std::int64_t>(j) * b.rows;
#pragma omp simd
      for (int i = 0; i < b.rows; ++i)
        cut_weight(high[i], low[i], rows.largest[i], rows.sum[i], rows.sum_low[i], rows.rest[i], b.table);
    }
    part.noalias() = w_high.middleCols(begin, n) * v_high.middleCols(begin, n).transpose();
#pragma omp simd
    for (int i = 0; i < size; ++i) add_part(b.head[i], b.tail[i], b.part[i]);
    tail.noalias() += w_low.middleCols(begin, n) * v.middleCols(begin, n).transpose();
    if (b.v_low.dense != nullptr) {
      tail.noalias() +=
          w_high.middleCols(begin, n) * transposed(b.v_low.dense, b.keys, b.values).middleCols(begin, n).transpose();
    } else {
      for (; entry < b.v_low.count && b.v_low.entries[entry].row - b.v_low.origin < begin + n; ++entry) {
        const Entry& e = b.v_low.entries[entry];
        tail.col(e.column) += e.value * w_high.col(e.row - b.v_low.origin);
      }
    }
  }
  for (int i = 0; i < b.rows; ++i) {
    if (b.sink[i] != kHidden) {
      const DoubleDouble x = two_sum(b.sink[i], -rows.largest[i]);
      const DoubleDouble w = exponential(x.high, x.low + b.sink_low[i], b.table);
      const DoubleDouble s = two_sum(rows.sum[i], w.high);
      rows.sum[i] = s.high;
      rows.sum_low[i] += s.low + w.low;
    }
    b.sum[i] = rows.sum[i];
    b.rest[i] = rows.rest[i];
  }
  // head + tail = (head + tail) / (sum + sum_low).
  for (int c = 0; c < b.values; ++c) {
    double *const h = b.head + static_cast<std::int64_t>(c) * b.rows, *const t = b.tail +
                                                                                 static_cast<std::int64_t>(c) * b.rows;
#pragma omp simd
    for (int i = 0; i < b.rows; ++i) {
      const double quotient = h[i] / rows.sum[i];
      const double left = std::fma(-quotient, rows.sum[i], h[i]) + (t[i] - quotient * rows.sum_low[i]);
      const DoubleDouble o = two_sum(quotient, left / rows.sum[i]);
      h[i] = o.high;
      t[i] = o.low;
    }
  }
}

}  // namespace

extern const AttentionKernels kKernels;
const AttentionKernels kKernels = {ROPEWALK_KERNELS_NAME, tier1, tier2};

}  // namespace ropewalk::reference::ROPEWALK_KERNELS
