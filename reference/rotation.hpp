// Rotation of vectors by given cosines and sines: exact up to a bound, and correctly rounded. docs/numerics.md,
// section 3.
#pragma once

#include <span>

#include "reference/enclosures.hpp"
#include "reference/format.hpp"
#include "reference/reals.hpp"
#include "reference/table.hpp"

namespace ropewalk::reference {

// Which two channels make pair j of a vector whose first `rotary` channels turn.
enum class Pairing {
  half_split,   // j and j + rotary/2 (rotate_half)
  interleaved,  // 2j and 2j + 1 (complex numbers)
};

// Pair (x, y) becomes (x cos - y sin, y cos + x sin); channels from `rotary` on stay as they are.
struct Rotation {
  int head_dim = 0;
  int rotary = 0;  // even, at most head_dim
  Pairing pairing = Pairing::half_split;
  bool conjugate = false;  // by minus the angle: the gradient of the rotation, and its inverse
};

// A block of the exact table, for `total`.
inline Reals cosines(const SinCos& table) { return {table.cos, table.cos_tail, table.error}; }
inline Reals sines(const SinCos& table) { return {table.sin, table.sin_tail, table.error}; }

// x is [rows][heads][head_dim], cos and sin are [rows][rotary/2]; out is as x. A pair with a number that is not finite
// gives the doubles that the formula gives, bound 0. Throws std::invalid_argument where shapes do not fit.
void rotate_vectors(const Rotation& rotation, const Reals& x, const Reals& cos, const Reals& sin, Enclosures& out);

// The same, correctly rounded to the format, ties to even, of numbers that are taken as they are. Counts channels:
// fast (the bound decides), fallback (MPFR decides), exact (no rotation), midpoints (of fallback: ties).
Proof rotate_rounded(const Rotation& rotation, Format format, std::span<const double> x, std::span<const double> cos,
                     std::span<const double> sin, std::span<double> out);

}  // namespace ropewalk::reference
