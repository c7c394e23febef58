// The last resort of the rounding test: MPFR with growing precision, until the result is proven.
#pragma once

#include <cstdint>

#include "reference/amplitude.hpp"
#include "reference/frequencies.hpp"
#include "reference/small_angle.hpp"

namespace ropewalk::reference {

// The precision that ends the search. Where the theorem of docs/numerics.md, 1.5, holds nothing comes near it; outside
// of it the search ends sooner, as it might not end by itself.
constexpr int kMostBits = 1 << 16;
constexpr int kMostBitsOutside = 2000;

// Of position * theta_j, nonzero and finite, times the amplitude; position <= 2^53.
RoundedSinCos sin_cos_by_multiprecision(const Frequencies& frequencies, const Amplitude& amplitude,
                                        std::int64_t position, int j);

}  // namespace ropewalk::reference
