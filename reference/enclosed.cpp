#include "reference/enclosed.hpp"

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

}  // namespace ropewalk::reference
