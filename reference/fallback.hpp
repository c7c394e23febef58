// The last resort of the rounding test: MPFR with growing precision, until the result is proven.
#pragma once

#include <cstdint>

#include "reference/frequencies.hpp"
#include "reference/small_angle.hpp"

namespace ropewalk::reference {

// The precision that ends the search; no nonzero power or given number comes near it (docs/numerics.md, 1.5).
constexpr int kMostBits = 1 << 16;

// Of position * theta_j, nonzero and finite; position <= 2^53.
RoundedSinCos sin_cos_by_multiprecision(const Frequencies& frequencies, std::int64_t position, int j);

}  // namespace ropewalk::reference
