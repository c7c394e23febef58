// What is done for each pair of a row, in double-double; the loops over rows are in rows.cpp. The bounds that the
// comments name are derived in docs/numerics.md, section 1. u = 2^-53.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/double_double.hpp"
#include "reference/rounding.hpp"
#include "reference/turns.hpp"

namespace ropewalk::reference {

constexpr int kTurnSteps = 512;  // of the table of one turn

// The sine and cosine of one turn's 512 steps: four arrays of kTurnSteps, error <= 2^-107 each.
struct TurnTable {
  alignas(64) double sin[kTurnSteps], sin_tail[kTurnSteps], cos[kTurnSteps], cos_tail[kTurnSteps];
};

struct SinCosPair {
  DoubleDouble sin, cos;
};

// Of |x| <= pi/512, |x.low| <= 3 u |x.high|, by Taylor: error <= 2^-109.3 (sin), 2^-105.4 (cos); |low| <= u |high|.
ROPEWALK_INLINE SinCosPair sin_cos_small(DoubleDouble x) {
  constexpr DoubleDouble kSin3 = {-0x1.5555555555555p-3, -0x1.5555555555555p-57};
  constexpr DoubleDouble kSin5 = {0x1.1111111111111p-7, 0x1.1111111111111p-63};
  constexpr DoubleDouble kCos4 = {0x1.5555555555555p-5, 0x1.5555555555555p-59};
  const DoubleDouble z = multiply(x, x);

  double sin_rest = std::fma(1.0 / 6227020800.0, z.high, -1.0 / 39916800.0);
  sin_rest = std::fma(std::fma(sin_rest, z.high, 1.0 / 362880.0), z.high, -1.0 / 5040.0);
  const DoubleDouble quintic = add_smaller(kSin5, multiply(z, sin_rest));
  const DoubleDouble cubic = add_smaller(kSin3, multiply(z, quintic));
  const DoubleDouble sin = normalised(add_smaller(x, multiply(multiply(x, z), cubic)));

  double cos_rest = std::fma(1.0 / 479001600.0, z.high, -1.0 / 3628800.0);
  cos_rest = std::fma(std::fma(cos_rest, z.high, 1.0 / 40320.0), z.high, -1.0 / 720.0);
  const DoubleDouble quartic = multiply(z, multiply(z, add_smaller(kCos4, multiply(z, cos_rest))));
  const DoubleDouble cos = add_smaller({1, 0}, add_smaller({-0.5 * z.high, -0.5 * z.low}, quartic));
  return {sin, cos};
}

// Of a fraction of a turn, error <= 2^-102: the nearest of 512 steps, and the rest by Taylor; not normalised.
ROPEWALK_INLINE SinCosPair sin_cos_of_turn(std::uint64_t high, std::uint64_t low, const TurnTable& table) {
  constexpr DoubleDouble kRadians = {0x1.921fb54442d18p-71, 0x1.1a62633145c07p-125};  // 2 pi 2^-73
  const std::uint64_t shifted = high + (std::uint64_t{1} << 54);
  const std::uint64_t step = shifted >> 55;
  // What is left of the turn, in units of 2^-73 turns: a signed integer and 55 bits after the point.
  const auto whole = static_cast<std::int64_t>(((shifted << 9) | (low >> 55)) ^ (std::uint64_t{1} << 63));
  const double fraction = static_cast<double>(static_cast<std::int64_t>((low << 9) >> 1)) * 0x1p-63;
  const DoubleDouble rest = fast_two_sum(static_cast<double>(whole & ~std::int64_t{2047}),
                                         static_cast<double>(whole & std::int64_t{2047}) + fraction);
  const SinCosPair b = sin_cos_small(multiply(rest, kRadians));
  const DoubleDouble sin_a = {table.sin[step], table.sin_tail[step]};
  const DoubleDouble cos_a = {table.cos[step], table.cos_tail[step]};
  return {add(multiply(sin_a, b.cos), multiply(cos_a, b.sin)),
          subtract(multiply(cos_a, b.cos), multiply(sin_a, b.sin))};
}

struct SumAndDifference {
  SinCosPair sum, difference;
};

// Of A + B and A - B from those of A and B, by the same four products: error <= 13 u^2 beside that of the tables; not
// normalised.
ROPEWALK_INLINE SumAndDifference rotate(DoubleDouble sin_a, DoubleDouble cos_a, DoubleDouble sin_b,
                                        DoubleDouble cos_b) {
  const DoubleDouble sc = multiply(sin_a, cos_b), cs = multiply(cos_a, sin_b);
  const DoubleDouble cc = multiply(cos_a, cos_b), ss = multiply(sin_a, sin_b);
  return {{add(sc, cs), subtract(cc, ss)}, {subtract(sc, cs), add(cc, ss)}};
}

// x rounded to double; sets bits in `unproven` unless everything within `error` of x rounds to it too.
ROPEWALK_INLINE double round_testing(DoubleDouble x, double error, std::uint64_t& unproven) {
  const double up = x.high + (x.low + error), down = x.high + (x.low - error);
  unproven |= std::bit_cast<std::uint64_t>(up) ^ std::bit_cast<std::uint64_t>(down);
  return up;
}

// The same with the tail, whose sign has to be certain too.
ROPEWALK_INLINE DoubleDouble round_testing_tail(DoubleDouble x, double error, std::uint64_t& unproven) {
  const DoubleDouble v = normalised(x);
  unproven |= rounds_to_head(v.high, v.low, error) ? 0 : 1;
  return v;
}

}  // namespace ropewalk::reference
