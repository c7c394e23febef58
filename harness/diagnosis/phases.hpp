// What a table says of its own frequencies and positions, taken from the angles that its cosines and sines point to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

struct Phases {
  std::size_t rows = 0, pairs = 0;
  std::vector<double> angle;  // [rows][pairs], radians; modulo 2 pi unless the file has angles
  double amplitude = 1;       // mean of sqrt(cos^2 + sin^2)
  double noise = 0;           // how far storage alone may turn an angle
  double at(std::size_t row, std::size_t pair) const { return angle[row * pairs + pair]; }
};

// From cos and sin, else from angle; no rows if neither is there.
Phases phases_of(const Stages& stages);

// Radians a position for each pair, from rows that lie farther and farther apart, without any idea beforehand; NaN
// where the rows lie too far apart to count turns. `positions` ascend.
std::vector<double> fitted_frequencies(const Phases& phases, std::span<const std::int64_t> positions);

// The position that each row points to at these frequencies: the slowest pair finds the place, each faster one makes
// it finer. Where the slowest pair has gone round, the turn nearest to `positions` counts.
std::vector<double> fitted_positions(const Phases& phases, std::span<const double> frequencies,
                                     std::span<const std::int64_t> positions);

// The base b of b^(-2j/dim) that fits these frequencies best, weighing each by how well it is known; NaN if none is.
double fitted_base(std::span<const double> frequencies, const Phases& phases, std::int64_t longest);

}  // namespace ropewalk
