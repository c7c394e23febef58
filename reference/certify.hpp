// Rounding of a real that is known within a bound.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "reference/rounding.hpp"

namespace ropewalk::reference {

// The number of the format to which every real within `bound` of head + tail rounds; empty if there is no such number.
// Both ends are rounded as they are: their sum with the head is exact as a double-double. A zero is positive unless the
// whole interval lies below 0.
inline std::optional<double> round_within(double head, double tail, double bound, Format format) {
  const auto end = [&](double low) {
    const DoubleDouble x = two_sum(head, low);
    return round_head_tail(x.high, x.low, format);
  };
  if (bound == 0) return end(tail);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double down = end(std::nextafter(tail - bound, -kInfinity));
  const double up = end(std::nextafter(tail + bound, kInfinity));
  if (!(down == up)) return std::nullopt;
  return up;
}

}  // namespace ropewalk::reference
