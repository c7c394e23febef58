// Sums and products of double-doubles: numbers high + low. Bounds and sources: docs/numerics.md, section 1.
// Right only without contraction and without -ffast-math (self_check.hpp).
#pragma once

#include <cmath>

namespace ropewalk::reference {

struct DoubleDouble {
  double high, low;
};

#define ROPEWALK_INLINE [[gnu::always_inline]] inline

// Exact: high + low = a + b (Knuth).
ROPEWALK_INLINE DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// Exact where |a| >= |b| or a = 0 (Dekker).
ROPEWALK_INLINE DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// Exact unless a b underflows.
ROPEWALK_INLINE DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

ROPEWALK_INLINE DoubleDouble normalised(DoubleDouble a) { return fast_two_sum(a.high, a.low); }

// For operands with |low| <= u |high|: error <= 6 u^2 |a b|, |low| of the result <= 3 u |a b|; not normalised.
ROPEWALK_INLINE DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  DoubleDouble p = two_product(a.high, b.high);
  p.low = std::fma(a.low, b.high, std::fma(a.high, b.low, p.low));
  return p;
}

// Error <= 2 u^2 |a b|.
ROPEWALK_INLINE DoubleDouble multiply(DoubleDouble a, double b) {
  DoubleDouble p = two_product(a.high, b);
  p.low = std::fma(a.low, b, p.low);
  return p;
}

// Error <= u (|a.low + b.low| + |low of the result|); not normalised.
ROPEWALK_INLINE DoubleDouble add(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = two_sum(a.high, b.high);
  s.low += a.low + b.low;
  return s;
}

// The same for |a.high| >= |b.high| or a = 0.
ROPEWALK_INLINE DoubleDouble add_smaller(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = fast_two_sum(a.high, b.high);
  s.low += a.low + b.low;
  return s;
}

ROPEWALK_INLINE DoubleDouble subtract(DoubleDouble a, DoubleDouble b) { return add(a, {-b.high, -b.low}); }

}  // namespace ropewalk::reference
