// Attention with proved bounds, in both tiers, and the usual ways to a trusted output by their rate.
#include "reference/attention.hpp"

#include <sys/resource.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/float128.hpp>
#include <string>

#include "bench/attention_sizes.hpp"
#include "bench/variant.hpp"
#include "reference/attention_tiers.hpp"

namespace ropewalk::bench {
namespace {

using reference::Accuracy;
using reference::Attention;
using reference::AttentionInputs;

struct Numbers {
  std::vector<double> q, k, v;
  Numbers(const AttentionSize& s, bool bfloat16)
      : q(numbers(s.length * s.heads * s.dim, bfloat16, 1)),
        k(numbers(s.length * s.kv_heads * s.dim, bfloat16, 2)),
        v(numbers(s.length * s.kv_heads * s.dim, bfloat16, 3)) {}
  static std::vector<double> numbers(std::int64_t count, bool bfloat16, unsigned seed) {
    const std::vector<float> x = attention_numbers(count, bfloat16, seed);
    return {x.begin(), x.end()};
  }
};

Attention problem(const AttentionSize& s) {
  Attention a;
  a.q_len = a.kv_len = s.length;
  a.heads = s.heads;
  a.kv_heads = s.kv_heads;
  a.head_dim = s.dim;
  a.causal = reference::Causal::top_left;
  return a;
}

void certified(benchmark::State& state, const reference::AttentionKernels& kernels, const AttentionSize& size,
               bool bfloat16, Accuracy accuracy) {
  const Numbers x(size, bfloat16);
  const Attention a = problem(size);
  reference::Enclosures output;
  output.resize(x.q.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        reference::attention_by(kernels, a, {x.q, x.k, x.v}, accuracy, {}, output, [](int, std::int64_t) {}));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * size.multiply_adds());
}

// Once, with the most memory that the process has held.
void large(benchmark::State& state, Accuracy accuracy) {
  certified(state, reference::attention_kernels().front(), kLargeAttention, true, accuracy);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

// The definition, a number at a time; Real has exp and the operators.
template <class Real>
void plain(benchmark::State& state) {
  const Numbers x(kSlowAttention, true);
  const std::vector<Real> q(x.q.begin(), x.q.end()), k(x.k.begin(), x.k.end()), v(x.v.begin(), x.v.end());
  const auto length = static_cast<std::size_t>(kSlowAttention.length),
             dim = static_cast<std::size_t>(kSlowAttention.dim);
  const Real scale = 1 / sqrt(Real(kSlowAttention.dim));
  std::vector<Real> weights(length), output(length * dim);
  for (auto _ : state) {
    for (std::size_t i = 0; i < length; ++i) {
      Real sum = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        Real logit = 0;
        for (std::size_t c = 0; c < dim; ++c) logit += q[i * dim + c] * k[j * dim + c];
        weights[j] = exp(logit * scale);
        sum += weights[j];
      }
      for (std::size_t c = 0; c < dim; ++c) {
        Real o = 0;
        for (std::size_t j = 0; j <= i; ++j) o += weights[j] * v[j * dim + c];
        output[i * dim + c] = o / sum;
      }
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kSlowAttention.multiply_adds());
}

const int kRegistered = [] {
  using namespace boost::multiprecision;
  for (const reference::AttentionKernels& kernels : reference::attention_kernels()) {
    const std::string name = kernels.name;
    const bool best = &kernels == &reference::attention_kernels().front();
    if (!best && name == "baseline") continue;
    for (const bool bfloat16 : {true, false}) {
      for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
        benchmark::RegisterBenchmark(
            (std::string("attention/") + (accuracy == Accuracy::comparison ? "tier1" : "tier2") +
             (bfloat16 ? "_bf16" : "_fp32") + (best ? "" : "/" + name))
                .c_str(),
            [=](benchmark::State& s) { certified(s, kernels, kAttention, bfloat16, accuracy); })
            ->Apply(one_thread);
      }
    }
  }
  benchmark::RegisterBenchmark("attention/float128", plain<float128>)->Apply(one_thread);
  benchmark::RegisterBenchmark("attention/boost", plain<cpp_bin_float_50>)->Apply(one_thread);
  const auto once = [](benchmark::internal::Benchmark* b) { b->Iterations(1)->Repetitions(1)->Apply(one_thread); };
  benchmark::RegisterBenchmark("attention/large_tier1", [](benchmark::State& s) {
    large(s, Accuracy::comparison);
  })->Apply(once);
  benchmark::RegisterBenchmark("attention/large_tier2", [](benchmark::State& s) {
    large(s, Accuracy::rounding);
  })->Apply(once);
  return 0;
}();

}  // namespace
}  // namespace ropewalk::bench
