// Matrix products of doubles as enclosures. docs/numerics.md, 4.2, has the algorithm and its bound.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/enclosed.hpp"

namespace ropewalk::reference {

// [m, k] times [k, n]; row-major; k < 2^26.
struct ProductShape {
  std::int64_t m, k, n;
};
Enclosures product(std::span<const double> left, std::span<const double> right, ProductShape shape);
Enclosures product(const Enclosures& left, std::span<const double> right, ProductShape shape);

// The exponent of the lowest bit set in any of the numbers; 1024 if all are zero. A product of two doubles is exact as
// a sum of two if those of the factors add up to -1074 at least.
int lowest_bit(std::span<const double> values);
int lowest_bit(const Enclosures& values);

// Every element times a factor.
void scale(Enclosures& values, Enclosure factor);

// [rows, columns] to [columns, rows].
std::vector<double> transposed(std::span<const double> values, std::int64_t columns);
Enclosures transposed(const Enclosures& values, std::int64_t columns);

}  // namespace ropewalk::reference
