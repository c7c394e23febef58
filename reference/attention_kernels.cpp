#include "reference/attention_kernels.hpp"

#include <vector>

namespace ropewalk::reference {

namespace attention_baseline {
extern const AttentionKernels kKernels;
}
#ifdef __x86_64__
namespace attention_avx2 {
extern const AttentionKernels kKernels;
}
namespace attention_avx512 {
extern const AttentionKernels kKernels;
}
#endif

std::span<const AttentionKernels> attention_kernels() {
  static const std::vector<AttentionKernels> usable = [] {
    std::vector<AttentionKernels> kernels;
#ifdef __x86_64__
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    if (avx512) kernels.push_back(attention_avx512::kKernels);
    if (avx2) kernels.push_back(attention_avx2::kKernels);
#endif
    kernels.push_back(attention_baseline::kKernels);
    return kernels;
  }();
  return usable;
}

}  // namespace ropewalk::reference
