// What NVIDIA's documents promise of __sinf and __cosf: absolute errors, by the size of the argument.
#pragma once

#include <array>
#include <numbers>
#include <optional>

#include "harness/recipes/recipe.hpp"

namespace ropewalk {

struct FastBound {
  double up_to;         // |argument|, radians
  double sine, cosine;  // absolute errors
};

// CUDA C++ Programming Guide, intrinsic functions: 2^-21.41 and 2^-21.19 in [-pi, pi]. Beyond it, since both compile to
// them: PTX ISA, sin and cos (.approx): 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]. Further out: nothing.
// Rounded up.
inline constexpr double kTwoToMinus21_41 = 0x1.8157d9d08a78ep-22, kTwoToMinus21_19 = 0x1.c0d2771113e53p-22,
                        kTwoToMinus20_5 = 0x1.6a09e667f3bcep-21, kTwoToMinus14_7 = 0x1.3b2c47bff832dp-15;
inline constexpr std::array<FastBound, 3> kFastBounds{{
    {std::numbers::pi, kTwoToMinus21_41, kTwoToMinus21_19},
    {2 * std::numbers::pi, kTwoToMinus20_5, kTwoToMinus20_5},
    {100 * std::numbers::pi, kTwoToMinus14_7, kTwoToMinus14_7},
}};
inline constexpr const char* kFastSource =
    "CUDA C++ Programming Guide, intrinsic functions (__sinf 2^-21.41, __cosf 2^-21.19 in [-pi, pi]); PTX ISA, sin and "
    "cos .approx (2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi])";

inline bool is_fast(Op op) { return op == Op::cos_fast || op == Op::sin_fast; }

// Of op at this size of argument; nothing where the documents promise nothing.
inline std::optional<double> documented_error(Op op, double size) {
  for (const FastBound& bound : kFastBounds)
    if (size <= bound.up_to) return op == Op::sin_fast ? bound.sine : bound.cosine;
  return {};
}

}  // namespace ropewalk
