#include "reference/yarn_ramp.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reference/fallback.hpp"

namespace ropewalk::reference {
namespace {

constexpr int kPlaceBits = 512;
constexpr int kGuardBits = 16;

// What implementations add to the end of an empty ramp.
constexpr double kLeastSpan = 0.001;

Real to_real(const Rational& x, int bits) {
  Real out = real(bits);
  mpfr_set_q(raw(out), raw(x), MPFR_RNDN);
  return out;
}

int sign(int x) { return (x > 0) - (x < 0); }

}  // namespace

// Error: the quotient has three roundings, 2^(2-bits) of it, which its logarithm passes on; the logarithms and the last
// two operations add one rounding each.
YarnRamp::Place YarnRamp::place_of(double turns, int bits) const {
  Place place{turns, real(bits), real(64)};
  Real quotient = real(bits), log_base = real(base_, 53 + bits);
  mpfr_const_pi(raw(quotient), MPFR_RNDN);
  mpfr_mul_d(raw(quotient), raw(quotient), 2 * turns, MPFR_RNDN);
  mpfr_d_div(raw(quotient), length_, raw(quotient), MPFR_RNDN);
  mpfr_log(raw(log_base), raw(log_base), MPFR_RNDN);
  mpfr_mul_2ui(raw(log_base), raw(log_base), 1, MPFR_RNDN);
  mpfr_log(raw(place.value), raw(quotient), MPFR_RNDN);
  mpfr_mul_si(raw(place.value), raw(place.value), dim_, MPFR_RNDN);
  mpfr_div(raw(place.value), raw(place.value), raw(log_base), MPFR_RNDN);
  // (dim / |2 ln base| + |value|) 2^(3-bits)
  mpfr_si_div(raw(place.error), dim_, raw(log_base), MPFR_RNDA);
  mpfr_abs(raw(place.error), raw(place.error), MPFR_RNDU);
  Real size = real(64);
  mpfr_abs(raw(size), raw(place.value), MPFR_RNDU);
  mpfr_add(raw(place.error), raw(place.error), raw(size), MPFR_RNDU);
  mpfr_mul_2si(raw(place.error), raw(place.error), 3 - bits, MPFR_RNDU);
  return place;
}

// The sign of place - bound; it is never 0, so that enough bits decide.
int YarnRamp::side_of(const Place& place, const Rational& bound) const {
  for (int bits = kPlaceBits; bits <= kMostBits; bits *= 2) {
    const Place at = bits == kPlaceBits ? place : place_of(place.turns, bits);
    Real distance = real(bits);
    mpfr_sub_q(raw(distance), raw(at.value), raw(bound), MPFR_RNDN);
    if (mpfr_cmpabs(raw(distance), raw(at.error)) > 0) return mpfr_sgn(raw(distance));
  }
  throw std::invalid_argument("the ends of yarn's ramp cannot be decided");
}

Rational YarnRamp::floor_of(const Place& place) const {
  Whole nearest;
  mpfr_get_z(raw(nearest), raw(place.value), MPFR_RNDN);
  return side_of(place, nearest) > 0 ? nearest : nearest - 1;
}

YarnRamp::YarnRamp(double base, int dim, const Scaling& scaling)
    : base_(base), length_(scaling.original_max_position_embeddings), dim_(dim) {
  if (base == 1) throw std::invalid_argument("yarn is not defined for base 1");
  low_.place = place_of(scaling.beta_fast, kPlaceBits);
  high_.place = place_of(scaling.beta_slow, kPlaceBits);
  const Rational first = 0, last = dim - 1;
  if (scaling.truncate) {
    low_.known = std::max(floor_of(low_.place), first);
    high_.known = std::min<Rational>(floor_of(high_.place) + 1, last);
  } else {
    if (side_of(low_.place, first) < 0) low_.known = first;
    if (side_of(high_.place, last) > 0) high_.known = last;
  }
  const bool empty = low_.known && high_.known ? *low_.known == *high_.known
                                               : !low_.known && !high_.known && scaling.beta_fast == scaling.beta_slow;
  if (empty) {
    high_.offset = kLeastSpan;
    if (high_.known) high_.known = *high_.known + high_.offset;
  }
  const Real low = value_of(low_, kPlaceBits), high = value_of(high_, kPlaceBits);
  Real span = real(kPlaceBits), size = real(64);
  mpfr_sub(raw(span), raw(high), raw(low), MPFR_RNDN);
  mpfr_add(raw(size), raw(low_.place.error), raw(high_.place.error), MPFR_RNDU);
  lost_bits_ = std::max<int>(0, static_cast<int>(mpfr_get_exp(raw(size)) + kPlaceBits - mpfr_get_exp(raw(span)))) + 4;
}

Real YarnRamp::value_of(const End& end, int bits) const {
  if (end.known) return to_real(*end.known, bits);
  Real value = bits == kPlaceBits ? end.place.value : place_of(end.place.turns, bits).value;
  mpfr_add_q(raw(value), raw(value), raw(end.offset), MPFR_RNDN);
  return value;
}

double YarnRamp::low() const { return mpfr_get_d(raw(value_of(low_, kPlaceBits)), MPFR_RNDN); }
double YarnRamp::high() const { return mpfr_get_d(raw(value_of(high_, kPlaceBits)), MPFR_RNDN); }

// The sign of pair - end.
int YarnRamp::sign_from(const Rational& pair, const End& end) const {
  return end.known ? sign(pair.compare(*end.known)) : -side_of(end.place, pair - end.offset);
}

int YarnRamp::sign_of_span() const {
  if (high_.known) return sign_from(*high_.known, low_);
  if (low_.known) return -sign_from(*low_.known, high_);
  if (high_.offset != 0) return 1;
  return (high_.place.turns < low_.place.turns) == (base_ > 1) ? 1 : -1;
}

std::optional<Rational> YarnRamp::rational_share(int j) const {
  if (low_.known && high_.known) {
    const Rational share = (j - *low_.known) / (*high_.known - *low_.known);
    return std::clamp<Rational>(share, 0, 1);
  }
  const int span = sign_of_span();
  if (sign_from(j, low_) * span <= 0) return Rational(0);
  if (sign_from(j, high_) * span >= 0) return Rational(1);
  return std::nullopt;
}

Real YarnRamp::share(int j, int bits) const {
  const int needed = bits + lost_bits_ + kGuardBits, used = std::max(needed, kPlaceBits);
  const Real low = value_of(low_, used);
  Real span = value_of(high_, used), share = real(used);
  mpfr_sub(raw(span), raw(span), raw(low), MPFR_RNDN);
  mpfr_si_sub(raw(share), j, raw(low), MPFR_RNDN);
  mpfr_div(raw(share), raw(share), raw(span), MPFR_RNDN);
  return share;
}

}  // namespace ropewalk::reference
