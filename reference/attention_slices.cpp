#include "reference/attention_slices.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ropewalk::reference {
namespace {

// The power of two next above x; 1 for 0. At least 2^-960, so that what is derived from it stays normal.
double power_above(double x) { return x > 0 ? std::ldexp(1.0, std::max(std::ilogb(x) + 1, -960)) : 1; }

// x rounded to a multiple of 2^-bits times `power`, which is above |x|.
double high_slice(double x, double power, int bits) {
  const double magic = std::ldexp(1.5 * power, 52 - bits);
  return (x + magic) - magic;
}

// Every double is a whole multiple of this; infinite for 0, the least double for subnormal numbers.
double lowest_bit(double x) {
  if (x == 0) return HUGE_VAL;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = (bits >> 52) & 0x7ff;
  const auto zeros = static_cast<std::uint64_t>(std::countr_zero(bits | std::uint64_t{1} << 52));
  const std::uint64_t weight = exponent + zeros;
  return weight > 52 ? std::bit_cast<double>((weight - 52) << 52) : 0x1p-1074;
}

// Rounded up, also where squares underflow or overflow.
class Norm {
 public:
  void add(double x) {
    x = std::fabs(x);
    squares_ += x * x;
    if (x < 0x1p-480) small_ += x;
  }
  double value() const { return std::sqrt(squares_) * (1 + 1e-9) + small_ * (1 + 1e-9); }

 private:
  double squares_ = 0, small_ = 0;
};

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
  start_slices(rows, columns, bits != 0, out);
  for (auto* v : {&sizes.norm, &sizes.high_norm, &sizes.low_norm, &sizes.error_norm, &sizes.lowest_bit})
    v->resize(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const std::size_t from = start + i * stride, to = i * static_cast<std::size_t>(columns);
    double largest = 0, bit = HUGE_VAL;
    Norm norm, high_norm, low_norm, error_norm;
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
      double value = x.head[from + c];
      if (!std::isfinite(value) || !std::isfinite(x.tail_at(from + c)) || !std::isfinite(x.bound_at(from + c))) {
        value = 0;
        out.finite[i] = 0;
        out.all_finite = false;
      }
      out.value[to + c] = value;
      largest = std::max(largest, std::fabs(value));
      bit = std::min(bit, lowest_bit(value));
      norm.add(value);
    }
    const double power = power_above(largest);
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns) && out.finite[i] != 0; ++c) {
      const double value = out.value[to + c], tail = x.tail_at(from + c), bound = x.bound_at(from + c);
      if (bits == 0) {
        error_norm.add(std::fabs(tail) + bound);
        continue;
      }
      const double high = high_slice(value, power, bits), low = (value - high) + tail;
      out.high[to + c] = high;
      out.low[to + c] = low;
      high_norm.add(high);
      low_norm.add(low);
      error_norm.add(bound + (tail == 0 ? 0 : 0x1p-53 * std::fabs(low)));
    }
    if (out.finite[i] == 0 && bits != 0) {
      std::fill_n(out.value.begin() + static_cast<std::ptrdiff_t>(to), columns, 0.0);
      std::fill_n(out.high.begin() + static_cast<std::ptrdiff_t>(to), columns, 0.0);
      std::fill_n(out.low.begin() + static_cast<std::ptrdiff_t>(to), columns, 0.0);
    }
    sizes.norm[i] = norm.value();
    sizes.high_norm[i] = high_norm.value();
    sizes.low_norm[i] = low_norm.value();
    sizes.error_norm[i] = error_norm.value();
    sizes.lowest_bit[i] = bit;
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
  for (double& power : largest) power = power_above(power);
  for (std::size_t i = 0; i < out.low.size(); ++i) {
    const std::size_t c = i % width;
    out.high[i] = high_slice(out.value[i], largest[c], bits);
    out.low[i] = out.value[i] - out.high[i];
    low_largest[c] = std::max(low_largest[c], std::fabs(out.low[i]));
  }
  find_entries(out);
}

}  // namespace ropewalk::reference
