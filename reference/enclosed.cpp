#include "reference/enclosed.hpp"

#include "reference/certify.hpp"

namespace ropewalk::reference {

bool is_tie(Format format, double head, double tail) {
  if (!std::isfinite(head) || head == 0) return false;
  if (format == Format::float64) {
    if (tail == 0) return false;
    const double neighbour = std::nextafter(head, std::copysign(HUGE_VAL, tail));
    return std::fabs(neighbour - head) == 2 * std::fabs(tail);
  }
  if (tail != 0 || !needs_tail(head, format)) return false;
  return round_head_tail(head, 0x1p-1074, format) != round_head_tail(head, -0x1p-1074, format);
}

std::optional<double> round_enclosed(Format format, Enclosure v) {
  const std::optional<double> rounded = round_within(v.head, v.tail, v.bound, format);
  const bool zero_of_unknown_sign = rounded == 0 && v.bound != 0 && std::fabs(v.head) <= 2 * v.bound;
  return zero_of_unknown_sign ? std::nullopt : rounded;
}

}  // namespace ropewalk::reference
