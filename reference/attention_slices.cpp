#include "reference/attention_slices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ropewalk::reference {
namespace {

// The power of two next above x; 1 for 0. At least 2^-960, so that what is derived from it stays normal.
double power_above(double x) { return x > 0 ? std::ldexp(1.0, std::max(std::ilogb(x) + 1, -960)) : 1; }

// Adding and taking away this rounds numbers up to `largest` in size to a multiple of 2^-bits times a power of two
// above.
double slice_magic(double largest, int bits) { return std::ldexp(1.5 * power_above(largest), 52 - bits); }

// Every double is a whole multiple of this; infinite for 0, the least double for subnormal numbers.
double lowest_bit(double x) {
  if (x == 0) return HUGE_VAL;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits >> 52) & 0x7ff;
  const auto zeros = static_cast<std::uint64_t>(std::countr_zero(bits | std::uint64_t{1} << 52));
  const std::uint64_t weight = exponent + zeros;
  return weight > 52 ? std::bit_cast<double>((weight - 52) << 52) : 0x1p-1074;
}

// Euclidean norm, rounded up: squares below 2^-900 vanish beside the sum, or the sum of absolute values serves.
double norm_of(const double* x, std::size_t n) {
  double squares = 0, absolute = 0;
#pragma omp simd reduction(+ : squares, absolute)
  for (std::size_t c = 0; c < n; ++c) {
    squares += x[c] * x[c];
    absolute += std::fabs(x[c]);
  }
  return (squares > 0x1p-800 ? std::sqrt(squares) : absolute) * (1 + 1e-9);
}

double largest_of(const double* x, std::size_t n) {
  double largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::size_t c = 0; c < n; ++c) largest = largest < std::fabs(x[c]) ? std::fabs(x[c]) : largest;
  return largest;
}

// NaN and infinity times 0 are NaN.
bool all_finite(const double* x, std::size_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t c = 0; c < n; ++c) sum += x[c] * 0;
  return sum == 0;
}

void start_slices(int rows, int columns, bool slices, Sliced& out) {
  const auto n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  out.rows = rows;
  out.columns = columns;
  out.value.resize(n);
  out.high.resize(slices ? n : 0);
  out.low.resize(slices ? n : 0);
  out.finite.assign(static_cast<std::size_t>(rows), 1);
  out.all_finite = true;
}

// One in a hundred: below, single products are cheaper than a matrix product.
void find_entries(Sliced& m) {
  const std::size_t most = m.low.size() / 100;
  m.entries.clear();
  m.dense = false;
  for (std::size_t i = 0; i < m.low.size(); ++i) {
    if (m.low[i] == 0) continue;
    if (m.entries.size() == most) {
      m.dense = true;
      m.entries.clear();
      break;
    }
    const auto columns = static_cast<std::size_t>(m.columns);
    m.entries.push_back({static_cast<int>(i / columns), static_cast<int>(i % columns), m.low[i]});
  }
  m.no_low = !m.dense && m.entries.empty();
}

}  // namespace

int slice_bits(int n) { return (53 - std::bit_width(static_cast<unsigned>(std::max(n, 1) - 1))) / 2; }

Low Sliced::low_from(int first_row) const {
  if (dense) return {&low[static_cast<std::size_t>(first_row) * static_cast<std::size_t>(columns)], nullptr, 0, 0};
  const auto begin =
      std::lower_bound(entries.begin(), entries.end(), first_row, [](const Entry& e, int row) { return e.row < row; });
  return {nullptr, entries.data() + (begin - entries.begin()), entries.end() - begin, first_row};
}

void slice_rows(const Reals& x, std::size_t start, std::size_t stride, int rows, int columns, int bits, Sliced& out,
                RowSizes& sizes) {
  const auto width = static_cast<std::size_t>(columns);
  start_slices(rows, columns, bits != 0, out);
  for (auto* v : {&sizes.norm, &sizes.high_norm, &sizes.low_norm, &sizes.error_norm, &sizes.lowest_bit})
    v->assign(static_cast<std::size_t>(rows), 0);
  std::vector<double> errors(x.exact() ? 0 : width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const std::size_t from = start + i * stride, to = i * width;
    double* const value = &out.value[to];
    std::copy_n(x.head.begin() + static_cast<std::ptrdiff_t>(from), columns, value);
    bool finite = all_finite(value, width);
    for (std::size_t c = 0; c < errors.size(); ++c) {
      errors[c] = std::fabs(x.tail_at(from + c)) + x.bound_at(from + c);
      finite = finite && std::isfinite(errors[c]);
    }
    if (!finite) {
      out.finite[i] = 0;
      out.all_finite = false;
      std::fill_n(value, columns, 0.0);
      std::fill(errors.begin(), errors.end(), 0.0);
    }
    sizes.norm[i] = norm_of(value, width);
    if (bits == 0) {
      double lowest = HUGE_VAL;
      for (std::size_t c = 0; c < width; ++c) lowest = std::min(lowest, lowest_bit(value[c]));
      sizes.lowest_bit[i] = lowest;
      sizes.error_norm[i] = norm_of(errors.data(), errors.size());
      continue;
    }
    double *const high = &out.high[to], *const low = &out.low[to];
    const double magic = slice_magic(largest_of(value, width), bits);
#pragma omp simd
    for (std::size_t c = 0; c < width; ++c) {
      high[c] = (value[c] + magic) - magic;
      low[c] = value[c] - high[c];
    }
    for (std::size_t c = 0; c < errors.size() && finite; ++c) {
      const double tail = x.tail_at(from + c);
      low[c] += tail;
      errors[c] = x.bound_at(from + c) + (tail == 0 ? 0 : 0x1p-53 * std::fabs(low[c]));
    }
    sizes.high_norm[i] = norm_of(high, width);
    sizes.low_norm[i] = norm_of(low, width);
    sizes.error_norm[i] = norm_of(errors.data(), errors.size());
  }
  find_entries(out);
}

void slice_columns(std::span<const double> x, std::size_t start, std::size_t stride, int rows, int columns, int bits,
                   Sliced& out, std::vector<double>& low_largest) {
  start_slices(rows, columns, bits != 0, out);
  const auto width = static_cast<std::size_t>(columns);
  std::vector<double> largest(width);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      double value = x[start + i * stride + c];
      if (!std::isfinite(value)) {
        value = 0;
        out.finite[i] = 0;
        out.all_finite = false;
      }
      out.value[i * width + c] = value;
      largest[c] = std::max(largest[c], std::fabs(value));
    }
  }
  low_largest.assign(width, 0);
  if (bits == 0) return find_entries(out);
  for (double& magic : largest) magic = slice_magic(magic, bits);
  for (std::size_t i = 0; i < out.value.size(); i += width) {
#pragma omp simd
    for (std::size_t c = 0; c < width; ++c) {
      const double value = out.value[i + c], high = (value + largest[c]) - largest[c], low = value - high;
      out.high[i + c] = high;
      out.low[i + c] = low;
      low_largest[c] = low_largest[c] < std::fabs(low) ? std::fabs(low) : low_largest[c];
    }
  }
  find_entries(out);
}

RowSizes running(const RowSizes& sizes) {
  RowSizes r;
  const auto run = [](const std::vector<double>& from, std::vector<double>& to, double start, auto pick) {
    to.assign(1, start);
    for (const double x : from) to.push_back(pick(to.back(), x));
  };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  run(sizes.norm, r.norm, 0, larger);
  run(sizes.high_norm, r.high_norm, 0, larger);
  run(sizes.low_norm, r.low_norm, 0, larger);
  run(sizes.error_norm, r.error_norm, 0, larger);
  run(sizes.lowest_bit, r.lowest_bit, HUGE_VAL, [](double a, double b) { return std::min(a, b); });
  return r;
}

const std::vector<double>& LargestValues::before(std::int64_t last, const Sliced& v) {
  double* const largest = largest_.data();
  for (; key_ < last; ++key_) {
    const double* const row = &v.value[static_cast<std::size_t>(key_) * largest_.size()];
#pragma omp simd
    for (std::size_t c = 0; c < largest_.size(); ++c)
      largest[c] = largest[c] < std::fabs(row[c]) ? std::fabs(row[c]) : largest[c];
  }
  return largest_;
}

// The low parts' sum is off by n u of the n u size that it may have.
Bounded mean_of_column(const Sliced& m, std::size_t column) {
  if (m.rows == 0 || !m.all_finite) return {{std::numeric_limits<double>::quiet_NaN(), 0}, 0};
  DoubleDouble sum = {0, 0};
  double size = 0;
  for (std::size_t i = column; i < m.value.size(); i += static_cast<std::size_t>(m.columns)) {
    const DoubleDouble s = two_sum(sum.high, m.value[i]);
    sum = {s.high, sum.low + s.low};
    size += std::fabs(m.value[i]);
  }
  const double n = m.rows, quotient = sum.high / n;
  return {two_sum(quotient, (std::fma(-quotient, n, sum.high) + sum.low) / n), (n + 8) * (n + 8) * 0x1p-106 * size / n};
}

}  // namespace ropewalk::reference
