// The problem that attention is measured on; the same for every method.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace ropewalk::bench {

struct AttentionSize {
  std::int64_t length;
  int heads, kv_heads, dim;
  // Of both matrix products, causal.
  std::int64_t multiply_adds() const { return heads * (length * (length + 1) / 2) * 2 * dim; }
};

constexpr AttentionSize kAttention = {1024, 8, 2, 128};
constexpr AttentionSize kLargeAttention = {4096, 32, 8, 128};
constexpr AttentionSize kSlowAttention = {48, 1, 1, 128};  // for methods that are too slow for more

// Normal numbers, as bfloat16 holds them or float32.
inline std::vector<float> attention_numbers(std::int64_t count, bool bfloat16, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) {
    value = normal(engine);
    if (bfloat16) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000);
  }
  return x;
}

}  // namespace ropewalk::bench
