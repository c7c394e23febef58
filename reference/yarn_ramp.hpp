// Where YaRN begins and ends to divide frequencies (Peng et al., 2023), decided exactly. docs/numerics.md, section 1.8.
#pragma once

#include <optional>

#include "reference/finite_digits.hpp"
#include "reference/real.hpp"
#include "reference/scaling.hpp"

namespace ropewalk::reference {

class YarnRamp {
 public:
  // Throws std::invalid_argument for a base of 1, for which the ramp is not defined.
  YarnRamp(double base, int dim, const Scaling& scaling);

  // In pairs; rounded to nearest where it is not a whole number.
  double low() const;
  double high() const;
  // The share of the division in pair j, from 0 (kept) to 1 (divided), where it is known to be rational: outside the
  // ramp, and everywhere if both ends are rational.
  std::optional<Rational> rational_share(int j) const;
  // The share, error at most 2^-bits.
  Real share(int j, int bits) const;

 private:
  // The pair that makes `turns` turns over the original length: dim ln(length / (2 pi turns)) / (2 ln base). Never
  // algebraic: base^(2 pair / dim) is length / (2 pi turns), transcendental as pi is.
  struct Place {
    double turns = 0;
    Real value, error;  // to kPlaceBits
  };
  struct End {
    std::optional<Rational> known;  // cut to a whole pair or to the range of pairs
    Place place;
    Rational offset = 0;
  };

  Place place_of(double turns, int bits) const;
  int side_of(const Place& place, const Rational& bound) const;
  Rational floor_of(const Place& place) const;
  int sign_from(const Rational& pair, const End& end) const;
  int sign_of_span() const;
  Real value_of(const End& end, int bits) const;

  double base_, length_;
  int dim_;
  End low_, high_;
  int lost_bits_ = 0;  // of the share, to the size of the ends
};

}  // namespace ropewalk::reference
