#include "reference/small_angle.hpp"

namespace ropewalk::reference {
namespace {

// Stands for a nonzero term that underflows: it is far below every rounding, but its sign decides.
double at_least_tiny(double magnitude) { return std::fmax(magnitude, 0x1p-1074); }

Rounded round(DoubleDouble x, double error) {
  const DoubleDouble v = normalised(x);
  return {v.high, v.low, rounds_to_head(v.high, v.low, error)};
}

}  // namespace

// Bounds: docs/numerics.md, 1.4. Errors are doubled for rounds_to_head.
RoundedSinCos sin_cos_of_small_angle(double head, double tail, bool exact) {
  const double x = std::fabs(head);
  const double square = x * x;
  const double angle_error = exact ? 0 : 0x1p-100 * x;

  // sin x = x - (x^3/6)(1 - x^2/20), the next term is x^7/5040. A nonzero tail is at least 2^-106 x: where the cube is
  // negligible beside that, it must not be mistaken for something when it underflows.
  const double cube = x * square * (1.0 / 6 - square / 120);
  const bool negligible = tail != 0 && cube < 0x1p-1000;
  const double sin_low = negligible ? tail : tail - std::copysign(at_least_tiny(cube), head);
  const double sin_error = angle_error + 0x1p-48 * cube + 0x1p-51 * std::fabs(sin_low);
  RoundedSinCos v;
  if (exact && tail == 0 && x < 0x1p-28) {
    v.sin = {head, sin_low, true};  // the cube is below 2^-58 x; a sum of subnormal numbers could not tell it
  } else {
    v.sin = round({head, sin_low}, sin_error);
  }

  // cos x = 1 - x^2/2 + (x^4/24)(1 - x^2/30), the next term is x^8/40320.
  const DoubleDouble z = two_product(head, head);
  const double square_low = z.low + 2 * head * tail;
  const double quartic = square * square * (1.0 / 24 - square / 720);
  const DoubleDouble c = two_sum(1, -at_least_tiny(0.5 * z.high));
  const double cos_low = c.low + (quartic - 0.5 * square_low);
  const double rounding =
      0x1p-102 * square + 0x1p-49 * (std::fabs(square_low) + quartic) + 0x1p-51 * std::fabs(cos_low);
  const double cos_error = 2 * x * angle_error + rounding;
  v.cos = round({c.high, cos_low}, cos_error);
  return v;
}

}  // namespace ropewalk::reference
