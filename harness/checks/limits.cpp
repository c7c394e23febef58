#include "harness/checks/limits.hpp"

#include <cmath>

#include "reference/clones.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::ulp;

ROPEWALK_CLONES void of_function(const double* value, std::size_t n, double function_ulp, Format format,
                                 double relative, double absolute, double* limit) {
#pragma omp simd
  for (std::size_t j = 0; j < n; ++j)
    limit[j] = function_ulp * ulp(value[j], format) + relative * std::fabs(value[j]) + absolute;
}

ROPEWALK_CLONES void add_half_ulps(const double* value, std::size_t n, Format format, double* limit) {
#pragma omp simd
  for (std::size_t j = 0; j < n; ++j) limit[j] += 0.5 * ulp(std::fabs(value[j]) + limit[j], format);
}

}  // namespace

void trig_limits(const TrigBudget& budget, std::span<const double> value, std::span<double> limit) {
  of_function(value.data(), value.size(), budget.function_ulp, budget.function_format, budget.relative, budget.absolute,
              limit.data());
  for (const Format f : budget.roundings) add_half_ulps(value.data(), value.size(), f, limit.data());
}

}  // namespace ropewalk
