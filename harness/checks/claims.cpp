#include "harness/checks/claims.hpp"

#include <algorithm>

namespace ropewalk {

DocumentedBounds widest_bounds() {
  const DocumentedBounds cpu = make_device("cpu")->bounds(), cuda = make_device("cuda-math")->bounds();
  return {std::max(cpu.sin_cos_ulp, cuda.sin_cos_ulp),
          std::max(cpu.pow_ulp, cuda.pow_ulp),
          std::max(cpu.exp_log_ulp, cuda.exp_log_ulp),
          std::max(cpu.sincospi_ulp, cuda.sincospi_ulp),
          true,
          cpu.source + "; " + cuda.source};
}

}  // namespace ropewalk
