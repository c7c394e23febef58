// Judging enclosures and roundings with MPFR alone.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "reference/enclosures.hpp"
#include "reference/format.hpp"
#include "reference/real.hpp"
#include "tests/reference/draws.hpp"

namespace ropewalk::reference {

constexpr std::array<Format, 4> kAllFormats = {Format::float64, Format::float32, Format::bfloat16, Format::float16};

// x rounded to a whole number of quanta, ties to even: shares nothing with rounding.hpp.
inline double rounded_by_quanta(const Real& x, Format format) {
  if (mpfr_zero_p(raw(x))) return 0;
  const long exponent = std::max<long>(mpfr_get_exp(raw(x)) - 1, min_exponent_of(format)) - (precision_of(format) - 1);
  Real quanta = x;
  mpfr_mul_2si(raw(quanta), raw(x), -exponent, MPFR_RNDN);
  mpfr_roundeven(raw(quanta), raw(quanta));
  mpfr_mul_2si(raw(quanta), raw(quanta), exponent, MPFR_RNDN);
  const double result = mpfr_get_d(raw(quanta), MPFR_RNDN);
  const double limit = format == Format::float16 ? 0x1p16 : 0x1p128;
  return format != Format::float64 && std::fabs(result) >= limit ? std::copysign(INFINITY, result) : result;
}

// |x - (head + tail)|, rounded up.
inline double distance(const Real& x, double head, double tail) {
  Real d = real(static_cast<int>(mpfr_get_prec(raw(x))) + 2200);
  mpfr_sub_d(raw(d), raw(x), head, MPFR_RNDN);
  mpfr_sub_d(raw(d), raw(d), tail, MPFR_RNDN);
  mpfr_abs(raw(d), raw(d), MPFR_RNDN);
  return mpfr_get_d(raw(d), MPFR_RNDU);
}

// Counts enclosures that do not hold, and how near the worst of those that hold comes to its bound.
struct Violations {
  std::int64_t checked = 0, violated = 0;
  double worst = 0;  // error / bound
  std::string first;

  // truth_error: how far `truth` may be from the real number.
  void check(const Real& truth, double truth_error, const Enclosures& e, std::size_t i, const std::string& where) {
    ++checked;
    const double error = distance(truth, e.head[i], e.tail[i]);
    const bool normal = std::fabs(e.tail[i]) <= 0x1p-53 * std::fabs(e.head[i]);
    if (e.bound[i] > 0) worst = std::max(worst, (error - truth_error) / e.bound[i]);
    if (error <= e.bound[i] + truth_error && normal) return;
    if (violated++ == 0)
      first = where + " element " + std::to_string(i) + ": error " + std::to_string(error) + ", bound " +
              std::to_string(e.bound[i]) + (normal ? "" : ", tail too large");
  }
};

}  // namespace ropewalk::reference
