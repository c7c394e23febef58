// Bounds of cosines and sines: of the reduction of their arguments, of approximations, and of what an amplitude adds.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/recipes/fast_bounds.hpp"
#include "harness/recipes/reductions.hpp"
#include "harness/recipes/tracked.hpp"

namespace ropewalk {
namespace {

// A thousandth more than the product of the exact numbers: roundings are far below.
double largest_size(const Tracked& angle, std::int64_t largest_position) {
  double largest = 0;
  for (const double v : angle.value) largest = std::max(largest, std::fabs(v));
  return 1.001 * largest * (angle.by_position ? static_cast<double>(largest_position) : 1);
}

}  // namespace

Tracked less_its_turns(Op reduction, const Tracked& angle, std::int64_t largest_position) {
  if (std::any_of(angle.error.begin(), angle.error.end(), [](double e) { return e != 0; }))
    throw Refused("no bound for the reduction of an angle that was not observed");
  Tracked t = angle;
  t.dtype = DType::float32;
  t.reduced = true;
  t.argument = argument_error(reduction, largest_size(angle, largest_position));
  return t;
}

Tracked approximated(Op op, const Tracked& angle, std::int64_t largest_position) {
  const double size = angle.reduced ? std::numbers::pi : largest_size(angle, largest_position);
  const auto error = documented_error(op, size);
  if (!error) throw Refused("no documented bound of the approximations for angles beyond 100 pi");
  Tracked t = trigonometric(angle, DocumentedBounds{});
  t.trig.absolute += *error;
  return t;
}

Tracked trigonometric(const Tracked& angle, const DocumentedBounds& device) {
  Tracked t;
  t.value = t.error = {0};
  t.dtype = angle.dtype;
  t.trigonometric = true;
  t.trig.function_ulp = device.sin_cos_ulp;
  t.trig.absolute = angle.argument;
  t.trig.function_format = arithmetic_format(angle.dtype);
  t.note(t.trig.function_format);
  if (bytes_of(t.dtype) != 2) return t;
  t.note(format_of(t.dtype));
  t.trig.roundings.push_back(format_of(t.dtype));
  return t;
}

// ulp(v) times the amplitude A is at most 2 ulp(A v); the number A and the product round once each.
Tracked amplified(Tracked t, double amplitude) {
  if (amplitude == 1) return t;
  const reference::Format format = arithmetic_format(t.dtype);
  const double u = reference::unit_roundoff(format);
  int exponent = 0;
  t.trig.absolute *= std::fabs(amplitude);
  if (std::fabs(std::frexp(amplitude, &exponent)) == 0.5) return t;
  t.trig.function_ulp *= 2;
  const std::vector<reference::Format> earlier = t.trig.roundings;
  t.trig.roundings.insert(t.trig.roundings.end(), earlier.begin(), earlier.end());
  t.trig.relative = compose(compose(t.trig.relative, representable(amplitude, format) ? 0 : u), u);
  if (bytes_of(t.dtype) == 2) t.trig.roundings.push_back(format_of(t.dtype));
  return t;
}

}  // namespace ropewalk
