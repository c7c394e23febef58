// exp of a double-double that is not positive, good to 2^-69; an inline function for loops over many.
// docs/numerics.md, 3.3.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/double_double.hpp"

namespace ropewalk::reference {

constexpr double kLeastExponent = -700;  // exp of anything below is taken as exp(-700)

struct ExponentialTable {
  alignas(64) double power[256], power_tail[256];  // 2^(i/256)
  double steps;                                    // 256 / ln 2
  double step1, step2, step3;                      // ln 2 / 256 in three parts, the first two of 32 bits
};
const ExponentialTable& exponential_table();

// exp(high + low), relative error <= 2^-69 and 2^-1074 beside for kLeastExponent <= high <= 2^-30, |low| <= 2^-42;
// |low| of the result <= u |high|. The table by pointer: references would keep g++ from vectorising loops around this.
ROPEWALK_INLINE DoubleDouble exponential(double high, double low, const ExponentialTable* table) {
  low = high < kLeastExponent ? 0 : low;
  high = high < kLeastExponent ? kLeastExponent : high;
  constexpr double kInteger = 0x1.8p52;  // adding it rounds to a whole number, which then stands in the last bits
  const double shifted = high * table->steps + kInteger;
  const double steps = shifted - kInteger;
  const std::int64_t n = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kInteger);
  // The rest of the argument, at most ln 2 / 512: products and difference are exact.
  DoubleDouble rest = two_sum(high - steps * table->step1, -(steps * table->step2));
  rest = fast_two_sum(rest.high, rest.low + (low - steps * table->step3));
  const double a = rest.high;
  double more = a * a * (0.5 + a * (1 / 6.0 + a * (1 / 24.0 + a * (1 / 120.0 + a * (1 / 720.0)))));
  more += rest.low + rest.low * a;  // exp(rest) - 1 - a
  const double power = table->power[n & 255], power_tail = table->power_tail[n & 255];
  const DoubleDouble linear = two_product(power, a);
  DoubleDouble sum = fast_two_sum(power, linear.high);
  sum.low += linear.low + power * more + power_tail + power_tail * a;
  sum = fast_two_sum(sum.high, sum.low);
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + (n >> 8)) << 52);
  return {sum.high * scale, sum.low * scale};
}

// cap tanh(x / cap), error <= 8 u cap beside that of x.
ROPEWALK_INLINE double soft_capped(double x, double cap, const ExponentialTable* table) {
  const double e = exponential(-2 * (std::fabs(x) / cap), 0, table).high;
  return std::copysign(cap * ((1 - e) / (1 + e)), x);
}

// The same with 1 / cap as double-double: error <= 2^-67 cap.
ROPEWALK_INLINE DoubleDouble soft_capped(DoubleDouble x, double cap, DoubleDouble inverse,
                                         const ExponentialTable* table) {
  const double sign = x.high < 0 ? -1 : 1;
  const DoubleDouble a = normalised(multiply({sign * x.high, sign * x.low}, inverse));
  const DoubleDouble e = exponential(-2 * a.high, -2 * a.low, table);
  DoubleDouble over = fast_two_sum(1, -e.high), under = fast_two_sum(1, e.high);
  over.low -= e.low;
  under.low += e.low;
  const double quotient = over.high / under.high;
  const double rest = std::fma(-quotient, under.high, over.high) + (over.low - quotient * under.low);
  return normalised(multiply(normalised({sign * quotient, sign * (rest / under.high)}), cap));
}

}  // namespace ropewalk::reference
