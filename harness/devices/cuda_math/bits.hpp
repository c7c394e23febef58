// fp32 values as their bit patterns: the sequences are published as patterns, and written here the same way.
#pragma once

#include <bit>
#include <cstdint>

// The body of a vectorised loop must be inlined into each of the clones below, or its FMA becomes a call.
#define ROPEWALK_INLINE [[gnu::always_inline]] inline
// One copy of a function with AVX-512, one with AVX2 and FMA, one for any x86-64, where libm's fma is slow and exact;
// the loader picks, and all three give the same bits. Clang has no such clones.
#if !defined(__x86_64__) || defined(__clang__)
#define ROPEWALK_CLONES
#else
#define ROPEWALK_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif

namespace ropewalk::cuda_math {

constexpr float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
constexpr std::uint32_t to_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace ropewalk::cuda_math
