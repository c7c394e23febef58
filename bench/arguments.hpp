// Arguments of sinf, the same for every method.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace ropewalk::bench {

constexpr std::size_t kArguments = 65536;  // in the second-level cache, with the results

// Both signs, |x| < 1e5.
inline std::vector<float> moderate_arguments() {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1e5F, 1e5F);
  std::vector<float> x(kArguments);
  for (float& value : x) value = uniform(engine);
  return x;
}

// Both signs, |x| from 2^17 to 2^127, every binade alike: all beyond the range of CUDA's fast reduction.
inline std::vector<float> huge_arguments() {
  std::mt19937 engine(2);
  std::uniform_real_distribution<float> exponent(17, 127);
  std::vector<float> x(kArguments);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::exp2(exponent(engine)) * (i % 2 == 0 ? 1.0F : -1.0F);
  return x;
}

}  // namespace ropewalk::bench
