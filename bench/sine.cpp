// The model of CUDA's sinf, on either side of its range reduction's limit.
#include "bench/arguments.hpp"
#include "bench/variant.hpp"
#include "harness/devices/cuda_math/cuda_math.hpp"

namespace ropewalk::bench {
namespace {

void sine_of(benchmark::State& state, const std::vector<float>& x) {
  if (!can_run(state)) return;
  std::vector<float> y(x.size());
  for (auto _ : state) {
    cuda_math::sin(x, y);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(x.size()));
}

void moderate(benchmark::State& state) { sine_of(state, moderate_arguments()); }
void huge(benchmark::State& state) { sine_of(state, huge_arguments()); }

BENCHMARK(moderate)->Name("sine/cuda_math" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(huge)->Name("sine/cuda_math_slow_path" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);

}  // namespace
}  // namespace ropewalk::bench
