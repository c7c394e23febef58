#include "harness/devices/cuda_math/sine.hpp"

#include <algorithm>
#include <stdexcept>

#include "harness/devices/cuda_math/cuda_math.hpp"

namespace ropewalk::cuda_math {
namespace {

constexpr std::size_t block_size = 512;

ROPEWALK_CLONES float one(float x, std::uint32_t shift) { return sine(x, shift); }

// Returns how many of the count elements need the slow path; their outputs are meaningless.
ROPEWALK_CLONES std::uint32_t fast_block(const float* in, float* out, std::size_t count, std::uint32_t shift) {
  std::uint32_t slow = 0;
#pragma omp simd reduction(+ : slow)
  for (std::size_t i = 0; i < count; ++i) {
    const bool skip = is_slow(in[i]);
    slow += skip ? 1U : 0U;
    out[i] = sine_fast(skip ? 0.0F : in[i], shift);
  }
  return slow;
}

void all(std::span<const float> in, std::span<float> out, std::uint32_t shift) {
  if (in.size() != out.size()) throw std::invalid_argument("cuda_math: input and output differ in length");
  std::array<float, block_size> block;  // in and out may be the same array: the slow path still needs the inputs
  for (std::size_t start = 0; start < in.size(); start += block_size) {
    const std::size_t count = std::min(block_size, in.size() - start);
    const float* const x = in.data() + start;
    if (fast_block(x, block.data(), count, shift) != 0) {
      for (std::size_t i = 0; i < count; ++i) {
        if (is_slow(x[i])) block[i] = one(x[i], shift);
      }
    }
    std::copy_n(block.data(), count, out.data() + start);
  }
}

}  // namespace

float sin(float x) { return one(x, 0); }
float cos(float x) { return one(x, 1); }
void sin(std::span<const float> in, std::span<float> out) { all(in, out, 0); }
void cos(std::span<const float> in, std::span<float> out) { all(in, out, 1); }

}  // namespace ropewalk::cuda_math
