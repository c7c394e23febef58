// Numbers that carry a bound of their error: |number - value| <= bound. Bounds: docs/numerics.md, 1.2 and 3.1.
#pragma once

#include <cmath>

#include "reference/double_double.hpp"

namespace ropewalk::reference {

struct Bounded {
  DoubleDouble value = {0, 0};  // normalised: |low| <= u |high|
  double bound = 0;
};

// Error beside the operands' own: none if both are single doubles, else 6 u^2 |a b|.
inline Bounded product(const Bounded& a, const Bounded& b) {
  constexpr double kUnit = 0x1p-53;
  const DoubleDouble p = multiply(a.value, b.value);
  const double x = std::fabs(a.value.high), y = std::fabs(b.value.high), size = std::fabs(p.high);
  double bound = 1.0001 * (x * b.bound + y * a.bound + a.bound * b.bound);
  if (a.value.low != 0 || b.value.low != 0) bound += 6 * kUnit * kUnit * size;
  if (size < 0x1p-900 && x != 0 && y != 0) bound += 0x1p-1070;  // bits are lost near the smallest numbers
  return {two_sum(p.high, p.low), bound};
}

// Error beside the operands' own: at most 6 u^2 (|a| + |b|), none if either is 0.
inline Bounded sum(const Bounded& a, const Bounded& b) {
  constexpr double kUnit = 0x1p-53;
  const DoubleDouble s = add(a.value, b.value);
  const double x = std::fabs(a.value.high), y = std::fabs(b.value.high);
  const double bound = 1.0001 * (a.bound + b.bound);
  return {two_sum(s.high, s.low), x == 0 || y == 0 ? bound : bound + 6 * kUnit * kUnit * (x + y)};
}

inline Bounded negative(const Bounded& a) { return {{-a.value.high, -a.value.low}, a.bound}; }

}  // namespace ropewalk::reference
