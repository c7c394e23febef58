// A number on its way through a recipe's steps: its value over the reals, and how far a device may be off from it. One
// running error analysis (Higham 2002, section 3.3) for all operations; docs/numerics.md, 2.2.
#pragma once

#include <optional>
#include <vector>

#include "harness/devices/device.hpp"
#include "harness/recipes/roundings.hpp"

namespace ropewalk {

struct Tracked {
  std::vector<double> value, error;  // one for each pair, or one for all
  bool by_position = false;          // value and error are those of position 1; others are that times the position
  DType dtype = DType::float32;
  std::optional<reference::Format> coarsest;  // the rounding with the fewest bits so far
  TrigBudget trig;                            // only what a cosine or sine made has one
  bool trigonometric = false;
  bool reduced = false;                  // an argument less its turns
  double argument = 0;                   // ... and what it is off by, in radians
  double relative(std::size_t j) const;  // error / |value|; 0 for what is exact
  void note(reference::Format format);   // a rounding to it
};

reference::Format arithmetic_format(DType dtype);  // half-precision kernels compute in fp32
bool representable(double value, reference::Format format);

Tracked exactly(std::vector<double> values, DType dtype);
Tracked number_beside(double number, DType dtype);  // a number rounds to the arithmetic's format

// One rounding to `dtype`, free where the value is exact and a number of it, or where it holds all of the old dtype.
Tracked rounded(Tracked x, DType dtype);
Tracked truncated(Tracked x, int bits);  // all but the first significand bits cut
Tracked negated(Tracked x);

// The operations of a device in the operands' promoted dtype. All throw Refused where they have no bound.
Tracked sum(const Tracked& x, const Tracked& y, int sign);
Tracked product(const Tracked& x, const Tracked& y);
Tracked quotient(const Tracked& x, const Tracked& y);
// x / number: on some devices x * (1 / number).
Tracked divided(const Tracked& x, double number, const DocumentedBounds& device);
Tracked power(const Tracked& base, const Tracked& exponent, const DocumentedBounds& device);
Tracked exponential(const Tracked& x, double base, const DocumentedBounds& device);  // base: e or 2
Tracked logarithm(const Tracked& x, const DocumentedBounds& device);
Tracked clamped(const Tracked& x, double low, double high);
// Where x < y, a, else b; where rounding may decide otherwise, the bound covers both.
Tracked selected(const Tracked& x, const Tracked& y, const Tracked& a, const Tracked& b);
Tracked running_product(const Tracked& first, const Tracked& ratio, std::size_t count);
Tracked joined(const Tracked& x, const Tracked& y);
// Entries of the pairs in this order. An index beyond all pairs is one of a further axis, whose pairs have the same
// bounds.
Tracked selected_by(const Tracked& x, const Tracked& index);

// An observed angle less its turns, and an approximation of its cosine or sine, reduced or not; positions go so far.
Tracked less_its_turns(Op reduction, const Tracked& angle, std::int64_t largest_position);
Tracked approximated(Op op, const Tracked& angle, std::int64_t largest_position);

// What a cosine or sine of `angle` is, and such a one times a number.
Tracked trigonometric(const Tracked& angle, const DocumentedBounds& device);
Tracked amplified(Tracked x, double amplitude);

}  // namespace ropewalk
