// Included before everything else where a second copy is compiled: AVX2 with FMA instead of one clone for each
// instruction set, in a namespace of its own, so that both copies are measured in one process.
#pragma once

#define ROPEWALK_BENCH_AVX2
#define ropewalk ropewalk_avx2
#define target_clones(...) target("arch=x86-64-v3")
