// Matrices of attention's inputs as its kernels want them: contiguous, cut into slices whose products are exact, with
// the sizes that the bounds need.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/attention_kernels.hpp"
#include "reference/bounded.hpp"
#include "reference/reals.hpp"

namespace ropewalk::reference {

// Row-major [rows][columns]; value = high + low. Numbers that are not finite are 0.
struct Sliced {
  int rows = 0, columns = 0;
  std::vector<double> value, high, low;
  std::vector<Entry> entries;  // of low, where it is nearly empty
  bool dense = false;
  std::vector<std::uint8_t> finite;  // [rows]
  bool all_finite = true;
  bool no_low = true;  // low is 0
  // From `first_row` on, for the kernels.
  Low low_from(int first_row) const;
};

// Euclidean norms of rows, rounded up, and the weight of the lowest bit that is set in the row.
struct RowSizes {
  std::vector<double> norm, high_norm, low_norm, error_norm, lowest_bit;
};

// Rows of x: row i starts at x[start + i * stride]. In each row high is a multiple of 2^-bits times a power of two
// above the row's numbers. error_norm: of what value (bits = 0: no slices) or high + low leave out of the real number.
void slice_rows(const Reals& x, std::size_t start, std::size_t stride, int rows, int columns, int bits, Sliced& out,
                RowSizes& sizes);

// The same with a power of two for each column; low_largest: [columns], of |low|.
void slice_columns(std::span<const double> x, std::size_t start, std::size_t stride, int rows, int columns, int bits,
                   Sliced& out, std::vector<double>& low_largest);

// At [j] the largest of the rows before j; of lowest_bit the least.
RowSizes running(const RowSizes& sizes);

// The largest |v| of each channel over the keys before `last`, which never decreases from call to call.
class LargestValues {
 public:
  explicit LargestValues(int values) : largest_(static_cast<std::size_t>(values)) {}
  const std::vector<double>& before(std::int64_t last, const Sliced& v);

 private:
  std::vector<double> largest_;
  std::int64_t key_ = 0;
};

// NaN if any number of the matrix is not finite, or there is none.
Bounded mean_of_column(const Sliced& m, std::size_t column);

// Bits of each of two slices so that sums of n products stay below 2^53 units.
int slice_bits(int n);

}  // namespace ropewalk::reference
