// bfloat16 and float16 bit patterns <-> float, one rounding to nearest even (IEEE 754-2019, 5.4.2).
#pragma once

#include <bit>
#include <cstdint>

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

}  // namespace ropewalk
