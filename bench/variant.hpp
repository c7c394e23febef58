// table.cpp and sine.cpp are compiled twice: for the instruction set that the loader picks, and for AVX2 (avx2.hpp).
#pragma once

#include <benchmark/benchmark.h>

#ifdef ROPEWALK_BENCH_AVX2
#define ROPEWALK_BENCH_SUFFIX "/avx2"
#else
#define ROPEWALK_BENCH_SUFFIX ""
#endif

namespace ropewalk::bench {

inline bool can_run(benchmark::State& state) {
#ifdef ROPEWALK_BENCH_AVX2
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    state.SkipWithError("this processor has no AVX2 with FMA");
    return false;
  }
#endif
  static_cast<void>(state);
  return true;
}

// Time is that of the processor, summed over the process's threads: others on the machine disturb it least, and a
// method that starts threads gains nothing.
inline void one_thread(benchmark::internal::Benchmark* b) { b->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond); }

}  // namespace ropewalk::bench
