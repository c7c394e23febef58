// Rows of sines and cosines, one entry a pair: the loops that the compiler vectorises for each instruction set. The
// same bits on all of them.
#pragma once

#include <cstdint>

#include "reference/format.hpp"
#include "reference/kernel.hpp"

namespace ropewalk::reference {

// Where a row stands: four arrays of doubles, one after the other.
struct Row {
  double* values;
  std::int64_t stride;  // at least the number of pairs
  double* sin() const { return values; }
  double* sin_tail() const { return values + stride; }
  double* cos() const { return values + 2 * stride; }
  double* cos_tail() const { return values + 3 * stride; }
};

const TurnTable& turn_table();

// Each returns whether the rounding test with half-width error[j] failed for some pair j.

bool sin_cos_of_turns(const std::uint64_t* high, const std::uint64_t* low, int n, const double* error, Row out);

// Rows of positions centre + b and centre - b.
bool rotate_rows(Row centre, Row b, int n, const double* error, Row sum, Row difference);

// The same without tails: only the rounding is proved then, not the signs of the tails. `heads` is four arrays of n:
// sin and cos of centre + b, sin and cos of centre - b.
bool rotate_rows_heads(Row centre, Row b, int n, const double* error, double* heads);
// The same times the amplitude; error <= 12 u^2 amplitude beside the rows' and the amplitude's own.
bool rotate_rows_heads(Row centre, Row b, int n, DoubleDouble amplitude, const double* error, double* heads);

// The row times the amplitude, in place: error <= 6 u^2 amplitude beside the row's and the amplitude's own.
bool amplify_row(Row row, int n, DoubleDouble amplitude, const double* error);

// Correctly rounded doubles, each rounded again to the format: floats, or bit patterns of 16 bits. Returns whether some
// entry may be a midpoint of the format (may_be_midpoint).
bool narrow_row(const double* values, int n, float* out);
bool narrow_row(Format format, const double* values, int n, std::uint16_t* out);

}  // namespace ropewalk::reference
