// Positions with several axes (time, height, width): each pair turns by one of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/table.hpp"

namespace ropewalk::reference {

// A column of a table with several axes: position[axis] * theta_pair.
struct Column {
  int axis = 0, pair = 0;
  bool operator==(const Column&) const = default;
};

// M-RoPE (Wang et al., Qwen2-VL, 2024): section a is the number of pairs of axis a, their sum all pairs, and pair j
// keeps its frequency. Blocked: the sections one after the other. Interleaved (Qwen3-VL): axis a > 0 has the pairs a, a
// + n, a + 2n, ... of n axes, as many as its section says; axis 0 has the others. Throws std::invalid_argument.
std::vector<Column> mrope_columns(std::span<const int> sections, bool interleaved);

// Two axes that have all frequencies of a table each: rows in the first half, columns in the second. The table is one
// of half the width, whose exponents begin anew in each half.
std::vector<Column> axial_columns(int pairs_of_axis);

// Row i is made of the positions positions[axis][i]. Throws std::invalid_argument.
Proof axis_rows(const Table& table, std::span<const std::vector<std::int64_t>> positions,
                std::span<const Column> columns, SinCos& out);

}  // namespace ropewalk::reference
