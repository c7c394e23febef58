// LibTorch's scaled_dot_product_attention in fp32, unproved, on one thread.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "bench/attention_sizes.hpp"
#include "bench/variant.hpp"

namespace ropewalk::bench {
namespace {

// [1, heads, length, dim], as projections leave them: a view of [length, heads, dim].
at::Tensor tensor(std::vector<float>& x, const AttentionSize& s, int heads) {
  return at::from_blob(x.data(), {1, s.length, heads, s.dim}, at::kFloat).transpose(1, 2);
}

void sdpa(benchmark::State& state, at::ScalarType type) {
  at::set_num_threads(1);
  const AttentionSize s = kAttention;
  std::vector<float> q = attention_numbers(s.length * s.heads * s.dim, true, 1);
  std::vector<float> k = attention_numbers(s.length * s.kv_heads * s.dim, true, 2);
  std::vector<float> v = attention_numbers(s.length * s.kv_heads * s.dim, true, 3);
  const at::Tensor tq = tensor(q, s, s.heads).to(type), tk = tensor(k, s, s.kv_heads).to(type),
                   tv = tensor(v, s, s.kv_heads).to(type);
  for (auto _ : state) {
    const at::Tensor o = at::scaled_dot_product_attention(tq, tk, tv, {}, 0.0, true, {}, true);
    benchmark::DoNotOptimize(o.data_ptr());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * s.multiply_adds());
}

void fp32(benchmark::State& state) { sdpa(state, at::kFloat); }
void fp64(benchmark::State& state) { sdpa(state, at::kDouble); }

BENCHMARK(fp32)->Name("attention/libtorch_fp32")->Apply(one_thread);
BENCHMARK(fp64)->Name("attention/libtorch_fp64")->Apply(one_thread);

}  // namespace
}  // namespace ropewalk::bench
