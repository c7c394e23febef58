// One entry of a row: how it is read and written. Only for the files that define what rows.hpp declares.
#pragma once

#include "reference/kernel.hpp"

namespace ropewalk::reference {

ROPEWALK_INLINE void store(double* out, std::int64_t stride, DoubleDouble sin, DoubleDouble cos) {
  out[0] = sin.high;
  out[stride] = sin.low;
  out[2 * stride] = cos.high;
  out[3 * stride] = cos.low;
}

ROPEWALK_INLINE SumAndDifference rotate_entry(const double* a, std::int64_t sa, const double* b, std::int64_t sb) {
  return rotate({a[0], a[sa]}, {a[2 * sa], a[3 * sa]}, {b[0], b[sb]}, {b[2 * sb], b[3 * sb]});
}

}  // namespace ropewalk::reference
