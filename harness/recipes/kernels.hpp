// Kernels of this project's own, that a recipe may name: its steps say operation by operation what the kernel computes.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "harness/cases/problem.hpp"

namespace ropewalk {

inline constexpr std::array<std::string_view, 7> kTableKernels{
    "table-sincosf",   "table-sincospif", "table-sincospif-fma", "table-phase",
    "table-phase-fma", "table-fast",      "table-fast-reduced"};
inline constexpr std::array<std::string_view, 12> kRotationKernels{
    "rotate-half-early",       "rotate-half-early-fma",       "rotate-half-late",
    "rotate-half-late-fma",    "rotate-interleaved-early",    "rotate-interleaved-early-fma",
    "rotate-interleaved-late", "rotate-interleaved-late-fma", "fused-half",
    "fused-half-fma",          "fused-interleaved",           "fused-interleaved-fma"};
inline constexpr std::array<std::string_view, 3> kPaddingKernels{"pad-index", "pad-slices", "pad-list"};

inline std::span<const std::string_view> kernels_of(Kind kind) {
  if (kind == Kind::table) return kTableKernels;
  if (kind == Kind::attention) return kRotationKernels;
  return kPaddingKernels;
}

inline constexpr std::array<std::string_view, 5> kMadeByRotations{"angle", "cos", "sin", "rotated_q", "rotated_k"};
inline constexpr std::array<std::string_view, 1> kMadeByPaddings{"lora_padded"};

// The stages that a kernel makes from those before it; rotations make their table by table-sincosf.
inline std::span<const std::string_view> made_by_kernels(Kind kind) {
  if (kind == Kind::table) return std::span(kMadeByRotations).first(3);
  if (kind == Kind::attention) return kMadeByRotations;
  return kMadeByPaddings;
}

}  // namespace ropewalk
