// Holds fp32 sines and cosines, over all finite floats or every n-th, against the correctly rounded and the exact
// values.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ropewalk::cuda_math {

// What one function did over the floats surveyed.
struct Survey {
  std::uint64_t compared = 0;
  std::uint64_t not_correctly_rounded = 0;
  std::uint64_t two_or_more_away = 0;  // floats between the result and the correctly rounded value, plus one, are >= 2
  std::vector<float> far_arguments = {};  // where that is so, at most 16 of them for each thread
  double largest_error = 0;               // in ulp of the exact value; of equal errors the one at the least bit pattern
  float at = 0;
  float result = 0;
  std::uint64_t fingerprint = 0;  // sum of result bits * (2 * argument bits + 1), modulo 2^64: any changed bit shows
};

struct Surveys {
  Survey sin;
  Survey cos;
};

using ArrayFunction = std::function<void(std::span<const float>, std::span<float>)>;

// Every stride-th finite magnitude from zero up, with both signs.
Surveys survey(const ArrayFunction& sin, const ArrayFunction& cos, std::uint32_t stride, unsigned threads);

}  // namespace ropewalk::cuda_math
