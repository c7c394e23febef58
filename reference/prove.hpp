// One sine and one cosine, proved by the cheapest way that proves them.
#pragma once

#include <cstdint>

#include "reference/small_angle.hpp"
#include "reference/table.hpp"

namespace ropewalk::reference {

// Of position * theta_j; counts both in `proof`. rounding_test_error as in Table. With an amplitude other than 1 what
// is not exact goes to MPFR: the product in double-double has failed where this is called.
RoundedSinCos prove(const Frequencies& frequencies, const Amplitude& amplitude, std::int64_t position, int j,
                    double rounding_test_error, Proof& proof);

// Of an exactly given angle.
RoundedSinCos prove_angle(double angle, const Amplitude& amplitude, double rounding_test_error, Proof& proof);

// The half-width of the rounding test for one frequency or angle: 0 where sine and cosine are exact, infinite where
// they are not numbers.
double test_error_of(double head, double rounding_test_error);

}  // namespace ropewalk::reference
