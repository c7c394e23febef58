// LoRA problems of every mask, geometry and layout, with inputs that are hard for floating point.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "reference/lora.hpp"
#include "reference/rounding.hpp"
#include "tests/reference/judging.hpp"

namespace ropewalk::reference {

enum class Kind {
  doubles,      // 53 bits each
  bfloats,      // sums that need few bits: many ties
  floats,       // 24 bits
  cancelling,   // pairs of terms that cancel up to a remainder 2^-70 smaller
  spread,       // exponents from -60 to 60
  zeros,        // three quarters are 0
  subnormals,   // of float32, bfloat16 and float16, with ordinary numbers
  extremes,     // exponents from -1074 to 1000: products underflow and overflow
  near_middles  // weights midway between numbers of each format, and an update of 0 or far below their last place
};
inline constexpr std::array kKindNames = {"doubles", "bfloats",    "floats",   "cancelling",  "spread",
                                          "zeros",   "subnormals", "extremes", "near_middles"};
inline constexpr std::array kKinds = {Kind::doubles, Kind::bfloats,    Kind::floats,   Kind::cancelling,  Kind::spread,
                                      Kind::zeros,   Kind::subnormals, Kind::extremes, Kind::near_middles};

inline constexpr std::array<LoraMap, 4> kGeometries = {LoraMap{4, 4, 2}, LoraMap{4, 2, 2}, LoraMap{4, 1, 2},
                                                       LoraMap{4, 2, 3}};
// Seven, so that they take turns over the eight masks.
inline constexpr std::array<LoraScale, 7> kScales = {
    LoraScale{16, 2, LoraScale::over_r},       LoraScale{5, 3, LoraScale::over_r},
    LoraScale{16, 3, LoraScale::over_sqrt_r},  LoraScale{-3, 4, LoraScale::over_sqrt_r},
    LoraScale{0.1, 1, LoraScale::plain},       LoraScale{-12, 3, LoraScale::over_r},
    LoraScale{2.5, 2, LoraScale::over_sqrt_r},
};

inline double number_of(Kind kind, Draws& numbers, std::size_t i) {
  const double v = 2 * numbers.unit() - 1;
  switch (kind) {
    case Kind::doubles:
      return v;
    case Kind::bfloats:
      return static_cast<double>(numbers.below(33) - 16) / 4;
    case Kind::floats:
      return static_cast<double>(static_cast<float>(v));
    case Kind::cancelling:
      return i % 2 == 0 ? 0x1p20 + static_cast<double>(numbers.below(4)) * 0x1p-32 : -0x1p20;
    case Kind::spread:
      return std::ldexp(v, static_cast<int>(numbers.below(121)) - 60);
    case Kind::zeros:
      return numbers.below(4) == 0 ? v : 0;
    case Kind::subnormals: {
      constexpr int kLowest[] = {-149, -133, -24};
      const auto format = static_cast<std::size_t>(numbers.below(4));
      return format == 3 ? static_cast<double>(static_cast<float>(v))
                         : std::ldexp(static_cast<double>(numbers.below(63) - 31), kLowest[format]);
    }
    case Kind::extremes:
      return std::ldexp(v, static_cast<int>(numbers.below(2075)) - 1074);
    case Kind::near_middles:
      return numbers.below(3) == 0
                 ? 0
                 : std::ldexp(numbers.below(2) == 0 ? 1 : -1, -300 + static_cast<int>(numbers.below(270)));
  }
  return v;
}

inline std::string name_of_kind(const testing::TestParamInfo<Kind>& info) {
  return kKindNames[static_cast<std::size_t>(info.param)];
}

// Owns the numbers that its problem refers to.
struct OwnedProblem {
  std::vector<double> x, weight, bias, a, b, grad_output;
  LoraProblem problem;

  OwnedProblem(const LoraMap& map, const LoraScale& scale, std::int64_t rows, std::int64_t in, Kind kind,
               std::uint64_t seed) {
    Draws numbers(seed);
    const auto fill = [&](std::vector<double>& to, std::int64_t n) {
      to.resize(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = number_of(kind, numbers, i);
    };
    fill(x, rows * in);
    fill(weight, map.out() * in);
    if (numbers.below(2) == 0) fill(bias, map.out());
    fill(a, scale.r * map.parts() * in);
    fill(b, map.enabled() * scale.r);
    fill(grad_output, rows * map.out());
    if (kind == Kind::near_middles) {
      // Rows of x that pick one column of the weights, and weights midway between numbers of each format.
      constexpr int kPrecisions[] = {8, 11, 24, 53};
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1 : 0;
      for (std::size_t i = 0; i < weight.size(); ++i) {
        const int p = kPrecisions[numbers.below(4)];
        const double odd = 1 + static_cast<double>(2 * numbers.below(3) + 1) * std::ldexp(1, -p);
        weight[i] = numbers.below(2) == 0 ? odd : -odd;  // the middle itself, but for 53 bits: there an ordinary number
      }
    }
    problem = {map, scale, {rows, in, x, weight, bias, a, b, grad_output, {}, {}}};
  }
  OwnedProblem(const OwnedProblem&) = delete;
  OwnedProblem& operator=(const OwnedProblem&) = delete;
};

}  // namespace ropewalk::reference
