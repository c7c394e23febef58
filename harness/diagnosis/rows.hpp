// Some rows of stages that are in memory.
#pragma once

#include <span>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

Tensor rows_of(const Tensor& tensor, std::span<const std::int64_t> rows);
Stages rows_of(const Stages& stages, std::span<const std::int64_t> rows);  // inv_freq has none and stays
// Of each of these rows one on every axis, row by row.
std::vector<std::int64_t> positions_at(const Positions& positions, std::span<const std::int64_t> rows,
                                       std::int64_t axes = 1);
Positions picked(const Positions& positions, std::span<const std::int64_t> rows);
// positions [rows] or, of several axes, [rows, axes].
Tensor row_positions(const Positions& positions, std::int64_t axes);

// Some 100 rows that show what is known to go wrong: all octaves, the first positions that 16 bits do not hold, the
// end.
std::vector<std::int64_t> telling_rows(const Positions& positions);

}  // namespace ropewalk
