#include "reference/dot.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "reference/clones.hpp"

namespace ropewalk::reference {
namespace {

// Columns that are summed at once, so that the sums stay in the first-level cache.
constexpr std::int64_t kTile = 64;

struct Sums {
  double head[kTile], tail[kTile], lost[kTile];
};

// One term of one sum. What the sums of the tail lose goes into `lost`, so head + tail + (at most lost) is exact.
ROPEWALK_INLINE void add_exact_term(double a, double b, double& head, double& tail, double& lost) {
  const DoubleDouble p = two_product(a, b);
  const DoubleDouble h = two_sum(head, p.high);
  const DoubleDouble low = two_sum(h.low, p.low);
  const DoubleDouble t = two_sum(tail, low.high);
  head = h.high;
  tail = t.high;
  lost += std::fabs(low.low) + std::fabs(t.low);
}

// The same for a = a_head + a_tail, off by at most a_bound.
ROPEWALK_INLINE void add_enclosed_term(double a_head, double a_tail, double a_bound, double b, double& head,
                                       double& tail, double& lost) {
  const DoubleDouble p = two_product(a_head, b), q = two_product(a_tail, b);
  const DoubleDouble h = two_sum(head, p.high);
  const DoubleDouble low = two_sum(h.low, p.low), lower = two_sum(low.high, q.high);
  const DoubleDouble t = two_sum(tail, lower.high);
  head = h.high;
  tail = t.high;
  lost += std::fabs(low.low) + std::fabs(lower.low) + std::fabs(t.low) + std::fabs(q.low) + a_bound * std::fabs(b);
}

ROPEWALK_CLONES void sum_exact(const double* left, const double* right, std::int64_t k, std::int64_t n,
                               std::int64_t width, Sums& sums) {
  double *head = sums.head, *tail = sums.tail, *lost = sums.lost;
  for (std::int64_t i = 0; i < k; ++i) {
    const double a = left[i];
    const double* b = right + i * n;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) add_exact_term(a, b[j], head[j], tail[j], lost[j]);
  }
}

ROPEWALK_CLONES void sum_enclosed(const double* left, const double* left_tail, const double* left_bound,
                                  const double* right, std::int64_t k, std::int64_t n, std::int64_t width, Sums& sums) {
  double *head = sums.head, *tail = sums.tail, *lost = sums.lost;
  for (std::int64_t i = 0; i < k; ++i) {
    const double a = left[i], a_tail = left_tail[i], a_bound = left_bound[i];
    const double* b = right + i * n;
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) add_enclosed_term(a, a_tail, a_bound, b[j], head[j], tail[j], lost[j]);
  }
}

// sum_row(row, first column, width, sums) sums the k terms. `underflows`: what k products may lose below 2^-1074.
template <class SumRow>
Enclosures product_of(std::size_t left, std::size_t right, ProductShape s, bool underflows, const SumRow& sum_row) {
  if (static_cast<std::size_t>(s.m * s.k) != left || static_cast<std::size_t>(s.k * s.n) != right ||
      s.k >= std::int64_t{1} << 26)
    throw std::invalid_argument("a matrix product of other sizes than its factors have");
  // Of head times b, tail times b and bound times |b| each less than 2^-1074.
  const double underflow = underflows ? static_cast<double>(s.k) * 0x1p-1072 : 0;
  Enclosures out;
  out.resize(static_cast<std::size_t>(s.m * s.n));
  for (std::int64_t first = 0; first < s.n; first += kTile) {
    const std::int64_t width = std::min(kTile, s.n - first);
    for (std::int64_t row = 0; row < s.m; ++row) {
      Sums sums = {};
      sum_row(row, first, width, sums);
      for (std::int64_t j = 0; j < width; ++j)
        put(out, static_cast<std::size_t>(row * s.n + first + j),
            enclosure(sums.head[j], sums.tail[j], sums.lost[j] + underflow));
    }
  }
  return out;
}

template <class T>
std::vector<T> transposed_vector(std::span<const T> values, std::int64_t columns) {
  std::vector<T> out(values.size());
  if (values.empty()) return out;
  const auto width = static_cast<std::size_t>(columns), height = values.size() / width;
  constexpr std::size_t kBlock = 16;  // both sides of a block stay in the cache
  for (std::size_t top = 0; top < height; top += kBlock)
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t i = top; i < std::min(height, top + kBlock); ++i) out[j * height + i] = values[i * width + j];
  return out;
}

}  // namespace

int lowest_bit(std::span<const double> values) {
  int lowest = 1024;
  for (const double v : values) {
    const auto bits = std::bit_cast<std::uint64_t>(v);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const int exponent = static_cast<int>(bits >> 52) & 0x7ff;
    if (fraction == 0 && exponent == 0) continue;
    const int zeros = fraction == 0 ? 52 : std::countr_zero(fraction);
    lowest = std::min(lowest, std::max(exponent, 1) - 1075 + zeros);
  }
  return lowest;
}

int lowest_bit(const Enclosures& values) {
  return std::min({lowest_bit(values.head), lowest_bit(values.tail), lowest_bit(values.bound)});
}

Enclosures product(std::span<const double> left, std::span<const double> right, ProductShape s) {
  const bool underflows = lowest_bit(left) + lowest_bit(right) < -1074;
  return product_of(left.size(), right.size(), s, underflows,
                    [&](std::int64_t row, std::int64_t first, std::int64_t width, Sums& sums) {
                      sum_exact(left.data() + row * s.k, right.data() + first, s.k, s.n, width, sums);
                    });
}

Enclosures product(const Enclosures& left, std::span<const double> right, ProductShape s) {
  const bool underflows = lowest_bit(left) + lowest_bit(right) < -1074;
  return product_of(left.size(), right.size(), s, underflows,
                    [&](std::int64_t row, std::int64_t first, std::int64_t width, Sums& sums) {
                      sum_enclosed(left.head.data() + row * s.k, left.tail.data() + row * s.k,
                                   left.bound.data() + row * s.k, right.data() + first, s.k, s.n, width, sums);
                    });
}

void scale(Enclosures& values, Enclosure factor) {
  const double parts[] = {factor.head, factor.tail, factor.bound};
  const bool underflows = lowest_bit(values) + lowest_bit(parts) < -1074;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Enclosure v = product(at(values, i), factor);
    if (underflows) v.bound += 0x1p-1070;  // eight products, each off by less than 2^-1074
    put(values, i, v);
  }
}

std::vector<double> transposed(std::span<const double> values, std::int64_t columns) {
  return transposed_vector(values, columns);
}

Enclosures transposed(const Enclosures& v, std::int64_t columns) {
  return {transposed(v.head, columns), transposed(v.tail, columns), transposed(v.bound, columns)};
}

}  // namespace ropewalk::reference
