// Rows times an amplitude. In a file of their own: beside them the loops of rows.cpp came out 5 % slower.
#include "reference/clones.hpp"
#include "reference/row_entries.hpp"
#include "reference/rows.hpp"

namespace ropewalk::reference {
namespace {

ROPEWALK_INLINE void amplified_heads(const double* a, std::int64_t sa, const double* b, std::int64_t sb,
                                     DoubleDouble amplitude, double error, double* heads, std::int64_t n,
                                     std::uint64_t& unproven) {
  const SumAndDifference v = rotate_entry(a, sa, b, sb);
  heads[0] = round_testing(multiply(v.sum.sin, amplitude), error, unproven);
  heads[n] = round_testing(multiply(v.sum.cos, amplitude), error, unproven);
  heads[2 * n] = round_testing(multiply(v.difference.sin, amplitude), error, unproven);
  heads[3 * n] = round_testing(multiply(v.difference.cos, amplitude), error, unproven);
}

ROPEWALK_INLINE void amplified_entry(double* v, std::int64_t stride, DoubleDouble amplitude, double error,
                                     std::uint64_t& unproven) {
  const DoubleDouble sin = multiply({v[0], v[stride]}, amplitude);
  const DoubleDouble cos = multiply({v[2 * stride], v[3 * stride]}, amplitude);
  store(v, stride, round_testing_tail(sin, error, unproven), round_testing_tail(cos, error, unproven));
}

}  // namespace

ROPEWALK_CLONES bool rotate_rows_heads(Row centre, Row b, int n, DoubleDouble amplitude, const double* error,
                                       double* heads) {
  std::uint64_t unproven = 0;
#pragma omp simd reduction(| : unproven)
  for (int j = 0; j < n; ++j) {
    amplified_heads(centre.values + j, centre.stride, b.values + j, b.stride, amplitude, error[j], heads + j, n,
                    unproven);
  }
  return unproven != 0;
}

ROPEWALK_CLONES bool amplify_row(Row row, int n, DoubleDouble amplitude, const double* error) {
  std::uint64_t unproven = 0;
#pragma omp simd reduction(| : unproven)
  for (int j = 0; j < n; ++j) amplified_entry(row.values + j, row.stride, amplitude, error[j], unproven);
  return unproven != 0;
}

}  // namespace ropewalk::reference
