// The proved table with all its set-up.
#include "reference/table.hpp"

#include <algorithm>
#include <memory>

#include "bench/sizes.hpp"
#include "bench/variant.hpp"

namespace ropewalk::bench {
namespace {

using reference::Amplitude;
using reference::Format;
using reference::Frequencies;
using reference::Proof;
using reference::Scaling;
using reference::Table;

std::int64_t largest(const std::vector<Size>& cells) {
  std::int64_t pairs = 0;
  for (const Size& cell : cells) pairs = std::max(pairs, cell.pairs());
  return pairs;
}

// Without scaling, or yarn's with an amplitude.
Table table_of(const Size& cell, const Scaling& scaling = {}) {
  return {Frequencies::scaled(cell.base, cell.dim, scaling), Amplitude::of(scaling)};
}

Scaling yarn() {
  Scaling scaling;
  scaling.type = Scaling::Type::yarn;
  scaling.factor = 32;
  scaling.original_max_position_embeddings = 4096;
  return scaling;
}

// Tables of floats, into memory that is used again.
void fill_floats(benchmark::State& state, const std::vector<Size>& cells, const Scaling& scaling = {}) {
  if (!can_run(state)) return;
  std::vector<float> sin(static_cast<std::size_t>(largest(cells))), cos(sin.size());
  for (auto _ : state) {
    for (const Size& cell : cells) {
      const Table table = table_of(cell, scaling);
      benchmark::DoNotOptimize(table.fill(Format::float32, 0, cell.positions, sin.data(), cos.data()));
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * pairs_of(cells));
}

// The same, each table in memory of its own.
void make_floats(benchmark::State& state, const std::vector<Size>& cells) {
  if (!can_run(state)) return;
  for (auto _ : state) {
    for (const Size& cell : cells) {
      const Table table = table_of(cell);
      const auto n = static_cast<std::size_t>(cell.pairs());
      const auto sin = std::make_unique_for_overwrite<float[]>(n), cos = std::make_unique_for_overwrite<float[]>(n);
      benchmark::DoNotOptimize(table.fill(Format::float32, 0, cell.positions, sin.get(), cos.get()));
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * pairs_of(cells));
}

// Doubles with their tails, as checks ask for them: a block of rows at a time.
void with_tails(benchmark::State& state, const Scaling& scaling) {
  if (!can_run(state)) return;
  constexpr std::int64_t kRows = 512;
  reference::SinCos block;
  for (auto _ : state) {
    const Table table = table_of(kLong, scaling);
    for (std::int64_t first = 0; first < kLong.positions; first += kRows)
      benchmark::DoNotOptimize(table.dense(first, kRows, block));
  }
  state.SetItemsProcessed(state.iterations() * kLong.pairs());
}

struct Narrowed {
  std::vector<double> float64;
  std::vector<float> float32;
  std::vector<std::uint16_t> bfloat16, float16;
  explicit Narrowed(std::size_t n) : float64(n), float32(n), bfloat16(n), float16(n) {}
};

// What a run of the seed grid asks of the reference: each row in all four dtypes, then dropped.
void stream_all_dtypes(benchmark::State& state) {
  if (!can_run(state)) return;
  const std::vector<Size> cells = grid();
  Narrowed sin(512), cos(512);
  for (auto _ : state) {
    for (const Size& cell : cells) {
      const Table table = table_of(cell);
      Proof narrowed;
      table.for_each_row(0, cell.positions, [&](std::int64_t position, const double* s, const double* c) {
        table.narrow(Format::float64, position, s, c, sin.float64.data(), cos.float64.data(), narrowed);
        table.narrow(Format::float32, position, s, c, sin.float32.data(), cos.float32.data(), narrowed);
        table.narrow(Format::bfloat16, position, s, c, sin.bfloat16.data(), cos.bfloat16.data(), narrowed);
        table.narrow(Format::float16, position, s, c, sin.float16.data(), cos.float16.data(), narrowed);
        benchmark::ClobberMemory();
      });
      benchmark::DoNotOptimize(narrowed);
    }
  }
  state.SetItemsProcessed(state.iterations() * pairs_of(cells));
}

void grid_filled(benchmark::State& state) { fill_floats(state, grid()); }
void grid_made(benchmark::State& state) { make_floats(state, grid()); }
void grid_yarn(benchmark::State& state) { fill_floats(state, grid(), yarn()); }
void long_filled(benchmark::State& state) { fill_floats(state, {kLong}); }
void long_yarn(benchmark::State& state) { fill_floats(state, {kLong}, yarn()); }
void tails(benchmark::State& state) { with_tails(state, {}); }
void tails_yarn(benchmark::State& state) { with_tails(state, yarn()); }
void long_made(benchmark::State& state) { make_floats(state, {kLong}); }

BENCHMARK(grid_filled)->Name("table/grid" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(grid_made)->Name("table/grid_new_memory" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(long_filled)->Name("table/long" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(grid_yarn)->Name("table/grid_yarn" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(long_yarn)->Name("table/long_yarn" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(tails)->Name("table/tails" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(tails_yarn)->Name("table/tails_yarn" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(long_made)->Name("table/long_new_memory" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);
BENCHMARK(stream_all_dtypes)->Name("table/grid_all_dtypes" ROPEWALK_BENCH_SUFFIX)->Apply(one_thread);

}  // namespace
}  // namespace ropewalk::bench
