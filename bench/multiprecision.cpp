// The usual ways to a trusted table, one pair at a time: frequencies are given, a pair is a product, a sine, a cosine.
#include <mpfr.h>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "bench/sizes.hpp"
#include "bench/variant.hpp"
#include "reference/frequencies.hpp"

namespace ropewalk::bench {
namespace {

using Boost50 = boost::multiprecision::cpp_bin_float_50;

constexpr int kPairs = kLong.dim / 2;

template <class Pair>
void for_sample(benchmark::State& state, const Pair& pair) {
  std::int64_t count = 0;
  for (auto _ : state) {
    for (std::int64_t position = kSampleStep - 1; position < kLong.positions; position += kSampleStep) {
      for (int j = 0; j < kPairs; ++j, ++count) pair(position, j);
    }
  }
  state.SetItemsProcessed(count);
}

void mpfr(benchmark::State& state) {
  constexpr int kBits = 128;
  const reference::Frequencies f = reference::Frequencies::powers(kLong.base, kLong.dim);
  std::vector<reference::Real> frequencies;
  for (int j = 0; j < kPairs; ++j) {
    const reference::Real frequency = f.at(j, kBits);  // of more bits
    frequencies.push_back(reference::real(kBits));
    mpfr_set(reference::raw(frequencies.back()), reference::raw(frequency), MPFR_RNDN);
  }
  reference::Real angle = reference::real(kBits), sin = angle, cos = angle;
  for_sample(state, [&](std::int64_t position, int j) {
    mpfr_mul_si(reference::raw(angle), reference::raw(frequencies[static_cast<std::size_t>(j)]), position, MPFR_RNDN);
    mpfr_sin_cos(reference::raw(sin), reference::raw(cos), reference::raw(angle), MPFR_RNDN);
    benchmark::ClobberMemory();
  });
}

void boost_50(benchmark::State& state) {
  std::vector<Boost50> frequencies;
  for (int j = 0; j < kPairs; ++j) frequencies.push_back(pow(Boost50(kLong.base), Boost50(-2 * j) / kLong.dim));
  for_sample(state, [&](std::int64_t position, int j) {
    const Boost50 angle = frequencies[static_cast<std::size_t>(j)] * position;
    benchmark::DoNotOptimize(Boost50(sin(angle)));
    benchmark::DoNotOptimize(Boost50(cos(angle)));
  });
}

BENCHMARK(mpfr)->Name("pair/mpfr")->Apply(one_thread);
BENCHMARK(boost_50)->Name("pair/boost")->Apply(one_thread);

}  // namespace
}  // namespace ropewalk::bench
