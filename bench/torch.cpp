// The same work done by LibTorch in fp32, unproved, on one thread.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sin.h>

#include <algorithm>
#include <utility>

#include "bench/arguments.hpp"
#include "bench/sizes.hpp"
#include "bench/variant.hpp"

namespace ropewalk::bench {
namespace {

struct Cell {
  at::Tensor positions, frequencies, angles, sin, cos;
  // The last three are views of memory that all cells share; room: three rows of at least size.pairs().
  Cell(const Size& size, const at::Tensor& room)
      : positions(at::arange(size.positions, at::kFloat)),
        frequencies(at::pow(size.base, at::arange(0, size.dim, 2, at::kFloat).div(-size.dim))) {
    const auto view = [&](int i) { return room[i].narrow(0, 0, size.pairs()).view({size.positions, size.dim / 2}); };
    angles = view(0);
    sin = view(1);
    cos = view(2);
  }
};

std::vector<Cell> cells_of(const std::vector<Size>& sizes) {
  std::int64_t largest = 0;
  for (const Size& size : sizes) largest = std::max(largest, size.pairs());
  const at::Tensor room = at::empty({3, largest}, at::kFloat);
  std::vector<Cell> cells;
  for (const Size& size : sizes) cells.emplace_back(size, room);
  return cells;
}

// Into memory that is used again. Neither positions nor frequencies count.
void fill_floats(benchmark::State& state, const std::vector<Size>& sizes) {
  at::set_num_threads(1);
  std::vector<Cell> cells = cells_of(sizes);
  const auto fill = [&] {
    for (Cell& cell : cells) {
      at::outer_out(cell.angles, cell.positions, cell.frequencies);
      at::sin_out(cell.sin, cell.angles);
      at::cos_out(cell.cos, cell.angles);
      benchmark::ClobberMemory();
    }
  };
  fill();  // the first time pays for the pages
  for (auto _ : state) fill();
  state.SetItemsProcessed(state.iterations() * pairs_of(sizes));
}

// As Python code does it: each operation makes its tensor.
void make_floats(benchmark::State& state, const std::vector<Size>& sizes) {
  at::set_num_threads(1);
  const std::vector<Cell> cells = cells_of(sizes);
  for (auto _ : state) {
    for (const Cell& cell : cells) {
      const at::Tensor angles = at::outer(cell.positions, cell.frequencies);
      const std::pair<at::Tensor, at::Tensor> table = {at::sin(angles), at::cos(angles)};
      benchmark::DoNotOptimize(table.first.data_ptr());
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * pairs_of(sizes));
}

void sine(benchmark::State& state) {
  at::set_num_threads(1);
  std::vector<float> values = moderate_arguments();
  const at::Tensor x = at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kFloat);
  at::Tensor y = at::empty_like(x);
  for (auto _ : state) {
    at::sin_out(y, x);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * x.numel());
}

void grid_filled(benchmark::State& state) { fill_floats(state, grid()); }
void grid_made(benchmark::State& state) { make_floats(state, grid()); }
void long_filled(benchmark::State& state) { fill_floats(state, {kLong}); }
void long_made(benchmark::State& state) { make_floats(state, {kLong}); }

BENCHMARK(grid_filled)->Name("libtorch/grid")->Apply(one_thread);
BENCHMARK(grid_made)->Name("libtorch/grid_new_memory")->Apply(one_thread);
BENCHMARK(long_filled)->Name("libtorch/long")->Apply(one_thread);
BENCHMARK(long_made)->Name("libtorch/long_new_memory")->Apply(one_thread);
BENCHMARK(sine)->Name("sine/libtorch")->Apply(one_thread);

}  // namespace
}  // namespace ropewalk::bench
