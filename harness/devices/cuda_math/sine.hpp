// Sine and cosine of one fp32 number: reduction to [-pi/4, pi/4], then a polynomial. Internal to this folder and its
// tests. Every fma rounds once, and so does every other operation; the file must be compiled with -ffp-contract=off.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/devices/cuda_math/bits.hpp"

namespace ropewalk::cuda_math {

// One operation changed. Only tests use another value than the default, to show that each operation shows in the
// result.
struct Change {
  int split_fma = -1;          // this fma (0 to 8, in the order of use) as a product and a sum, two roundings
  int flipped_constant = -1;   // this constant (0 to 11, likewise) with its last bit flipped
  int quadrant_offset = 0;     // added to the quadrant
  bool truncate_slow = false;  // the slow path takes the quadrant below, not the nearest
};

// The three-part reduction serves below this magnitude; there the quadrant number has 17 bits.
inline constexpr float slow_from = 105615.0F;
ROPEWALK_INLINE bool is_slow(float x) { return !(std::fabs(x) < slow_from); }  // NaN too

struct Reduced {
  float t;                 // the angle from the nearest multiple of pi/2
  std::uint32_t quadrant;  // that multiple, modulo 4 in the low two bits
};

template <int index, Change change>
ROPEWALK_INLINE float fma_at(float a, float b, float c) {
  if constexpr (change.split_fma == index) return a * b + c;
  return std::fma(a, b, c);
}

template <int index, Change change>
consteval float constant(std::uint32_t bits) {
  return from_bits(change.flipped_constant == index ? bits ^ 1U : bits);
}

// |x| < slow_from. Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, ties to even, and gives +0 rather
// than -0, as a conversion to an integer and back does: sin(-0) is -0 only so.
template <Change change = Change{}>
ROPEWALK_INLINE Reduced reduce_fast(float x) {
  constexpr float shifter = 0x1.8p23F;
  const float turns = (x * constant<0, change>(0x3F22F983) + shifter) - shifter;  // 2/pi
  float t = fma_at<0, change>(turns, constant<1, change>(0xBFC90FDA), x);         // -pi/2 in three parts
  t = fma_at<1, change>(turns, constant<2, change>(0xB3A22168), t);
  t = fma_at<2, change>(turns, constant<3, change>(0xA7C234C5), t);
  return {t, static_cast<std::uint32_t>(static_cast<std::int32_t>(turns))};
}

// Payne and Hanek (1983): |x| = significand * 2^exponent times 192 bits of 2/pi; only the two bits left of the binary
// point and the 64 right of it matter. x is finite, |x| >= slow_from.
template <Change change = Change{}>
Reduced reduce_slow(float x) {
  constexpr std::array<std::uint32_t, 6> two_over_pi = {0x3C439041, 0xDB629599, 0xF534DDC0,
                                                        0xFC2757D1, 0x4E441529, 0xA2F9836E};  // low word first
  const std::uint32_t bits = to_bits(x);
  const std::uint64_t significand = (bits & 0x007FFFFF) | 0x00800000;
  const int exponent = static_cast<int>((bits >> 23) & 0xFF) - 150;
  std::array<std::uint32_t, 9> product{};  // two words stay zero: bits_from reads past the top
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < two_over_pi.size(); ++i) {
    carry += significand * two_over_pi[i];
    product[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  product[6] = static_cast<std::uint32_t>(carry);

  const auto bits_from = [&product](int position) {
    const auto word = static_cast<std::size_t>(position / 32);
    const int shift = position % 32;
    const std::uint64_t low = product[word] | (std::uint64_t{product[word + 1]} << 32);
    return shift == 0 ? low : (low >> shift) | (std::uint64_t{product[word + 2]} << (64 - shift));
  };
  const int point = 192 - exponent;  // of the product's bits, so many are right of the binary point: 88 to 199
  const std::uint64_t fraction = bits_from(point - 64);
  auto quadrant = static_cast<std::uint32_t>(bits_from(point) & 3);
  double t = 0;
  if constexpr (change.truncate_slow) {
    t = static_cast<double>(fraction);
  } else {
    quadrant += static_cast<std::uint32_t>(fraction >> 63);
    t = static_cast<double>(static_cast<std::int64_t>(fraction));
  }
  // pi/2 * 2^-64, one ulp above the nearest double: for the nearest, four sines and cosines would be other floats, and
  // the exhaustive counts would miss the published ones by two each.
  constexpr std::uint64_t scale = 0x3BF921FB54442D19 ^ (change.flipped_constant == 11 ? 1U : 0U);
  const auto angle = static_cast<float>(t * std::bit_cast<double>(scale));
  return std::signbit(x) ? Reduced{-angle, 0U - quadrant} : Reduced{angle, quadrant};
}

// The sine of t + quadrant * pi/2.
template <Change change = Change{}>
ROPEWALK_INLINE float kernel(Reduced reduced) {
  const float t = reduced.t;
  const std::uint32_t quadrant = reduced.quadrant + static_cast<std::uint32_t>(change.quadrant_offset);
  const bool odd = (quadrant & 1U) != 0;
  const float t2 = t * t;
  const float s = odd ? 1.0F : t;
  const float first = fma_at<3, change>(constant<4, change>(0x37CBAC00), t2, constant<5, change>(0xBAB607ED));
  float c = odd ? first : constant<6, change>(0xB94D4153);
  c = fma_at<4, change>(c, t2, odd ? constant<7, change>(0x3D2AAABB) : constant<8, change>(0x3C0885E4));
  c = fma_at<5, change>(c, t2, odd ? constant<9, change>(0xBEFFFFFF) : constant<10, change>(0xBE2AAAA8));
  const float z = fma_at<7, change>(c, fma_at<6, change>(t2, s, 0.0F), s);
  return (quadrant & 2U) != 0 ? fma_at<8, change>(z, -1.0F, 0.0F) : z;
}

// shift 0: sine, 1: cosine.
template <Change change = Change{}>
ROPEWALK_INLINE float sine_fast(float x, std::uint32_t shift) {
  const Reduced reduced = reduce_fast<change>(x);
  return kernel<change>({reduced.t, reduced.quadrant + shift});
}

template <Change change = Change{}>
ROPEWALK_INLINE float sine_slow(float x, std::uint32_t shift) {
  if (!std::isfinite(x)) return std::numeric_limits<float>::quiet_NaN();
  const Reduced reduced = reduce_slow<change>(x);
  return kernel<change>({reduced.t, reduced.quadrant + shift});
}

template <Change change = Change{}>
ROPEWALK_INLINE float sine(float x, std::uint32_t shift) {
  return is_slow(x) ? sine_slow<change>(x, shift) : sine_fast<change>(x, shift);
}

}  // namespace ropewalk::cuda_math
