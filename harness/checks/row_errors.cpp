#include "harness/checks/row_errors.hpp"

#include <cmath>
#include <limits>

#include "reference/clones.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::ulp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double finite_or_infinity(double size) { return size <= std::numeric_limits<double>::max() ? size : kInfinity; }

// error / limit, where an error of zero is within any limit and any error exceeds a limit of zero.
double ratio(double error, double limit) {
  const double r = error / limit;
  return error == 0 ? 0 : limit == 0 ? kInfinity : r;
}

ROPEWALK_CLONES RowErrors compare_columns(const double* got, const double* lh, const double* lt, const double* th,
                                          const double* tt, const double* ll, const double* tl, std::size_t n,
                                          Format format, double* difference, double* ulps) {
  double local_ratio = 0, total_ratio = 0, local_abs = 0, inherited_abs = 0, local_ulp = 0, inherited_ulp = 0;
#pragma omp simd reduction(max : local_ratio, total_ratio, local_abs, inherited_abs, local_ulp, inherited_ulp)
  for (std::size_t j = 0; j < n; ++j) {
    const double unit = ulp(th[j], format);
    const double total = (got[j] - th[j]) - tt[j];
    const double local = finite_or_infinity(std::fabs((got[j] - lh[j]) - lt[j]));
    const double inherited = finite_or_infinity(std::fabs((lh[j] - th[j]) + (lt[j] - tt[j])));
    const double size = finite_or_infinity(std::fabs(total));
    difference[j] = size < kInfinity ? total : kInfinity;
    ulps[j] = size / unit;
    const double lr = ratio(local, ll[j]), tr = ratio(size, tl[j]);
    local_ratio = lr > local_ratio ? lr : local_ratio;
    total_ratio = tr > total_ratio ? tr : total_ratio;
    local_abs = local > local_abs ? local : local_abs;
    inherited_abs = inherited > inherited_abs ? inherited : inherited_abs;
    local_ulp = local / unit > local_ulp ? local / unit : local_ulp;
    inherited_ulp = inherited / unit > inherited_ulp ? inherited / unit : inherited_ulp;
  }
  return {local_ratio, total_ratio, local_abs, inherited_abs, local_ulp, inherited_ulp};
}

}  // namespace

RowErrors compare_row(const ComparedRow& row, Format format, double* difference, double* ulps) {
  return compare_columns(row.got, row.local_head, row.local_tail, row.total_head, row.total_tail, row.local_limit,
                         row.total_limit, row.columns, format, difference, ulps);
}

std::size_t worst_column(const ComparedRow& row, bool local, const double* difference) {
  std::size_t at = 0;
  double largest = -1;
  for (std::size_t j = 0; j < row.columns; ++j) {
    const double error = local ? (row.got[j] - row.local_head[j]) - row.local_tail[j] : difference[j];
    const double r = ratio(finite_or_infinity(std::fabs(error)), local ? row.local_limit[j] : row.total_limit[j]);
    if (r > largest) largest = r, at = j;
  }
  return at;
}

}  // namespace ropewalk
