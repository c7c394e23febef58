// Which row of somebody's table belongs to which row of the case.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// For each row of the case the table's row:
//   - with `given`, the table's positions, int64 [rows] or, of several axes, [rows, axes] (there [rows] is text, the
//   same
//     on every axis): those where it has the case's. In the case's order they may repeat, else each is there once;
//   - else, with as many rows as the case, the same one;
//   - else, of one axis and with more rows, row p for position p.
// Throws SubjectError.
std::vector<std::int64_t> rows_in_table(const Case& problem, std::int64_t table_rows, const Tensor* given);

}  // namespace ropewalk
