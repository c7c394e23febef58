// Sine and cosine of angles below 2^-20, with relative error: there the table's absolute error would prove nothing.
#pragma once

#include "reference/rounding.hpp"

namespace ropewalk::reference {

constexpr double kSmallAngle = 0x1p-20;

struct RoundedSinCos {
  Rounded sin, cos;
};

// Of the angle head + tail, nonzero, |angle| < kSmallAngle and |tail| <= u |head|. `exact`: the angle is head + tail;
// otherwise its relative error is at most 2^-101, and |angle| must be at least 2^-900.
RoundedSinCos sin_cos_of_small_angle(double head, double tail, bool exact);

}  // namespace ropewalk::reference
