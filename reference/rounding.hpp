// Rounding to nearest, ties to even, from an exact value that is known as double-double. docs/numerics.md, 1.5 and 1.6.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/double_double.hpp"
#include "reference/format.hpp"

namespace ropewalk::reference {

// A real number x as head = x rounded to double, tail = x - head, nearly; proven: head is certain, and the sign of tail
// is.
struct Rounded {
  double head = 0, tail = 0;
  bool proven = false;
};

// Ziv's rounding test: does every real within the true error of head + tail round to head, and lie on tail's side of
// it? Sound where `error` is at least twice the true one and at least 2^-51 |tail|; 0 says that head + tail is exact.
ROPEWALK_INLINE bool rounds_to_head(double head, double tail, double error) {
  return (head + (tail + error) == head) & (head + (tail - error) == head) & !(std::fabs(tail) < error);
}

// The double v, |v| < 2^128, rounded once more, to a narrower format: correct for the double's value (see
// may_be_midpoint). Adding and taking away 1.5 * 2^52 quanta leaves a multiple of the quantum; the sign of a zero is
// v's.
ROPEWALK_INLINE double round_double(double v, Format format) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63, kExponent = std::uint64_t{0x7ff} << 52;
  const std::uint64_t lowest = static_cast<std::uint64_t>(1023 + min_exponent_of(format)) << 52;
  const std::uint64_t shift = (static_cast<std::uint64_t>(53 - precision_of(format)) << 52) | 0x8000000000000;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(v);
  const double magic = std::bit_cast<double>(std::max(bits & kExponent, lowest) + shift);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>((v + magic) - magic) | (bits & kSign));
}

// Every midpoint between neighbours of float32, bfloat16 or float16, subnormals included, has 28 zero bits at its end.
// A real that rounds to a double v without them lies on the same side of every midpoint as v.
constexpr std::uint64_t kMidpointMask = 0xfffffff;
ROPEWALK_INLINE bool may_be_midpoint(double v) { return (std::bit_cast<std::uint64_t>(v) & kMidpointMask) == 0; }

// Whether the tail has to decide: v is not a number of the format and may be a midpoint of it.
inline bool needs_tail(double v, Format format) {
  return format != Format::float64 && may_be_midpoint(v) && std::fabs(v) < 0x1p128 && round_double(v, format) != v;
}

// head + tail rounded to the format, given that head is x rounded and that tail has the sign of x - head: rounding to
// odd first, then to the narrower format (Boldo and Melquiond 2008).
inline double round_head_tail(double head, double tail, Format format) {
  if (format == Format::float64 || !std::isfinite(head)) return head;
  const double infinity = std::copysign(std::numeric_limits<double>::infinity(), head);
  const double limit = format == Format::float16 ? 0x1p16 : 0x1p128;  // 2^(emax + 1)
  if (std::fabs(head) >= limit) return infinity;
  double odd = head;
  if (tail != 0 && head != 0 && may_be_midpoint(head)) {
    const std::uint64_t away = std::signbit(tail) == std::signbit(head) ? 1 : ~std::uint64_t{0};
    odd = std::bit_cast<double>(std::bit_cast<std::uint64_t>(head) + away);
  }
  const double rounded = round_double(odd, format);
  return std::fabs(rounded) >= limit ? infinity : rounded;
}

// Bit patterns of doubles that are numbers of the format (finite).
ROPEWALK_INLINE std::uint16_t bfloat16_bits(double v) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16);
}
// Scaling by 2^-112 moves float16's exponent to float's: float's subnormals then are float16's.
ROPEWALK_INLINE std::uint16_t float16_bits(double v) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(v * 0x1p-112));
  return static_cast<std::uint16_t>(((bits >> 13) & 0x7fff) | ((bits >> 16) & 0x8000));
}

}  // namespace ropewalk::reference
