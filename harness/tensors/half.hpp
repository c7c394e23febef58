// bfloat16 and float16 bit patterns <-> float, one rounding to nearest even (IEEE 754-2019, 5.4.2). The two 8-bit
// formats of Micikevicius et al., FP8 Formats for Deep Learning, arXiv:2209.05433, section 3, -> float, exactly.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace ropewalk {

inline float bfloat16_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

inline std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float float16_to_float(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }

inline std::uint16_t float_to_float16(float value) {
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

// 4 bits of exponent with bias 7, 3 of fraction; no infinity, NaN where all seven are set.
inline float float8_e4m3fn_to_float(std::uint8_t bits) {
  const int exponent = (bits >> 3) & 0xf, fraction = bits & 0x7;
  const float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
  if ((bits & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * static_cast<float>(fraction) * 0x1p-9F;
  return std::bit_cast<float>((std::uint32_t{bits} & 0x80) << 24 | static_cast<std::uint32_t>(exponent + 120) << 23 |
                              static_cast<std::uint32_t>(fraction) << 20);
}

// The upper byte of a float16.
inline float float8_e5m2_to_float(std::uint8_t bits) { return float16_to_float(static_cast<std::uint16_t>(bits << 8)); }

}  // namespace ropewalk
