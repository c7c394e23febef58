// The positions of a golden file's rows, short where they are regular.
#pragma once

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"

namespace ropewalk {

struct Rows {
  std::int64_t first = 0, step = 1, count = 0;  // when list is empty
  std::vector<std::int64_t> list;
  std::int64_t size() const { return list.empty() ? count : static_cast<std::int64_t>(list.size()); }
  std::int64_t at(std::int64_t row) const {
    return list.empty() ? first + row * step : list[static_cast<std::size_t>(row)];
  }
  bool consecutive() const { return list.empty() && step == 1; }
};

Rows rows_of(const Positions& positions);  // of one axis, or alike on all
// {"from", "to", "step"} or a list.
Json to_json(const Rows& rows);
Rows read_rows(const Field& field);  // the inverse; throws BadInput

// Of each axis, or once where they are alike on all: {"axes": [...]}, or as above.
std::vector<Rows> axis_rows_of(const Positions& positions);
Json to_json(const std::vector<Rows>& axes);
std::vector<Rows> read_axis_rows(const Field& field, std::int64_t axes);

}  // namespace ropewalk
