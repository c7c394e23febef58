// How far off one row of a stage is: local, inherited and total errors of all its columns at once, as vectors.
#pragma once

#include <cstddef>

#include "reference/format.hpp"

namespace ropewalk {

struct ComparedRow {  // columns numbers each; the exact ones as head + tail
  std::size_t columns;
  const double *got, *local_head, *local_tail, *total_head, *total_tail, *local_limit, *total_limit;
};

struct RowErrors {  // the largest of each kind; ratios are of an error to its limit
  double local_ratio = 0, total_ratio = 0, local_abs = 0, inherited_abs = 0, local_ulp = 0, inherited_ulp = 0;
};

// Also gives each column's total error, with its sign, and its size in ulp of the exact value.
RowErrors compare_row(const ComparedRow& row, reference::Format format, double* difference, double* ulps);

// The column that comes closest to its local limit, or goes furthest beyond it; or to its total one, given these
// differences.
std::size_t worst_column(const ComparedRow& row, bool local, const double* difference);

}  // namespace ropewalk
