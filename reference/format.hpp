// Binary floating-point formats (IEEE 754-2019; bfloat16 as in ATen): precision, ulp, and rounding an enclosed real.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace ropewalk::reference {

enum class Format { float64, float32, bfloat16, float16 };

constexpr std::string_view name_of(Format f) {
  return f == Format::float64    ? "float64"
         : f == Format::float32  ? "float32"
         : f == Format::bfloat16 ? "bfloat16"
                                 : "float16";
}
constexpr int precision_of(Format f) {  // significand bits, the implicit one included
  return f == Format::float64 ? 53 : f == Format::float32 ? 24 : f == Format::bfloat16 ? 8 : 11;
}
constexpr int min_exponent_of(Format f) {  // of the smallest normal number 2^e
  return f == Format::float64 ? -1022 : f == Format::float16 ? -14 : -126;
}
// u: the largest relative error of one rounding to nearest in the normal range, 2^-precision.
constexpr double unit_roundoff(Format f) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 - precision_of(f)) << 52);
}

// Spacing of the format's numbers in the binade of |x|; at least its smallest subnormal.
// Not defined for float64's subnormal range below 2^-1022+52 (flushes to the smallest positive double).
inline double ulp(double x, Format f) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  std::int64_t exponent = static_cast<std::int64_t>((bits >> 52) & 0x7ff) - 1023;
  const std::int64_t lowest = min_exponent_of(f);
  exponent = (exponent < lowest ? lowest : exponent) - (precision_of(f) - 1) + 1023;
  return exponent > 0 ? std::bit_cast<double>(static_cast<std::uint64_t>(exponent) << 52) : 0x1p-1074;
}

}  // namespace ropewalk::reference
