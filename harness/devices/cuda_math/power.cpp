#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/devices/cuda_math/bits.hpp"
#include "harness/devices/cuda_math/cuda_math.hpp"

namespace ropewalk::cuda_math {
namespace {

// log2(x) = high + low, with low far below an ulp of high.
struct Log2 {
  float high;
  float low;
};

// x = 2^exponent * mantissa, mantissa in about [0.707, 1.414].
struct Split {
  float exponent;
  float mantissa;
};

ROPEWALK_INLINE Split split(float x) {
  float start = 0.0F;
  if (x < 0x1p-126F) {
    x *= 0x1p24F;
    start = -24.0F;
  }
  const std::uint32_t field = (to_bits(x) - 0x3F3504F3U) & 0xFF800000U;
  return {std::fma(static_cast<float>(static_cast<std::int32_t>(field)), 0x1p-23F, start),
          from_bits(to_bits(x) - field)};
}

// log2 by the series of atanh((m - 1) / (m + 1)); u + v is twice that quotient, made from the given reciprocal of m
// + 1.
ROPEWALK_INLINE Log2 log2_of(Split x, float reciprocal) {
  constexpr float log2_e = from_bits(0x3FB8AA3B);
  constexpr float log2_e_rest = from_bits(0x32A55E34);
  const float d = x.mantissa - 1.0F;
  const float u = reciprocal * (d + d);
  const float w = d - u;
  const float v = reciprocal * std::fma(d, -u, w + w);
  const float u2 = u * u;
  const float h = std::fma(u, log2_e, x.exponent);
  float p = std::fma(u2, from_bits(0x3A2C32E4), from_bits(0x3B52E7DB));
  p = std::fma(u2, p, from_bits(0x3C93BB73));
  p = std::fma(u2, p, from_bits(0x3DF6384F));
  p = u2 * p;
  float l = std::fma(u, log2_e, x.exponent - h);
  l = std::fma(v, log2_e, l);
  l = std::fma(u, log2_e_rest, l);
  l = std::fma(p * 3.0F, v, l);
  l = std::fma(p, u, l);
  const float high = h + l;
  return {high, l - (high - h)};
}

// 2^n for n in the range of normal numbers.
ROPEWALK_INLINE float exp2_of(int n) { return from_bits(static_cast<std::uint32_t>(n + 127) << 23); }

// 2^(log * y).
ROPEWALK_INLINE float exp2_of(Log2 log, float y) {
  const float t = log.high * y;
  if (std::fabs(t) > 152.0F) return t < 0 ? 0.0F : std::numeric_limits<float>::infinity();
  constexpr float shifter = 0x1.8p23F;  // |t| is small: this rounds to the nearest integer, ties to even
  const float n = (t + shifter) - shifter;
  const float g = std::fma(log.low, y, std::fma(log.high, y, -t)) + (t - n);
  float z = std::fma(g, from_bits(0x391FCB8E), from_bits(0x3AAF85ED));
  z = std::fma(g, z, from_bits(0x3C1D9856));
  z = std::fma(g, z, from_bits(0x3D6357BB));
  z = std::fma(g, z, from_bits(0x3E75FDEC));
  z = std::fma(g, z, from_bits(0x3F317218));
  z = std::fma(g, z, 1.0F);
  const int whole = static_cast<int>(n);
  const int half = whole / 2;
  return z * exp2_of(half) * exp2_of(whole - half);  // the first product is exact: one rounding, in subnormals only
}

// x > 0, both finite.
ROPEWALK_CLONES Power positive(float x, float y) {
  const Split parts = split(x);
  const float reciprocal =
      1.0F / (parts.mantissa + 1.0F);  // about [0.41, 0.59]: its neighbours are one bit pattern off
  const float value = exp2_of(log2_of(parts, reciprocal), y);
  const float below = exp2_of(log2_of(parts, from_bits(to_bits(reciprocal) - 1)), y);
  const float above = exp2_of(log2_of(parts, from_bits(to_bits(reciprocal) + 1)), y);
  return {value, value != below || value != above};
}

bool is_odd(float y) { return std::fmod(std::fabs(y), 2.0F) == 1.0F; }

}  // namespace

Power pow(float x, float y) {
  // C99's Annex F gives an exact result (0, 1, infinity, NaN) wherever an operand is NaN, infinite or zero.
  if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) return {std::pow(x, y), false};
  if (x > 0) return positive(x, y);
  if (std::trunc(y) != y) return {std::numeric_limits<float>::quiet_NaN(), false};
  Power power = positive(-x, y);
  if (is_odd(y)) power.value = -power.value;
  return power;
}

std::size_t pow(float base, std::span<const float> in, std::span<float> out) {
  if (in.size() != out.size()) throw std::invalid_argument("cuda_math: input and output differ in length");
  std::size_t undetermined = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Power power = pow(base, in[i]);
    out[i] = power.value;
    undetermined += power.undetermined ? 1U : 0U;
  }
  return undetermined;
}

}  // namespace ropewalk::cuda_math
