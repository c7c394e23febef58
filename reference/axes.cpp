#include "reference/axes.hpp"

#include <numeric>
#include <stdexcept>

namespace ropewalk::reference {

std::vector<Column> mrope_columns(std::span<const int> sections, bool interleaved) {
  for (const int section : sections)
    if (section < 0) throw std::invalid_argument("a section cannot be negative");
  const int axes = static_cast<int>(sections.size()), pairs = std::accumulate(sections.begin(), sections.end(), 0);
  std::vector<Column> columns;
  for (int axis = 0; axis < axes; ++axis)
    for (int n = 0; n < sections[static_cast<std::size_t>(axis)]; ++n)
      columns.push_back({interleaved ? 0 : axis, static_cast<int>(columns.size())});
  for (int axis = 1; interleaved && axis < axes; ++axis) {
    const int end = axes * sections[static_cast<std::size_t>(axis)];
    for (int j = axis; j < end; j += axes) {
      if (j >= pairs) throw std::invalid_argument("a section is too long to be interleaved");
      columns[static_cast<std::size_t>(j)].axis = axis;
    }
  }
  return columns;
}

std::vector<Column> axial_columns(int pairs_of_axis) {
  std::vector<Column> columns;
  for (int axis = 0; axis < 2; ++axis)
    for (int j = 0; j < pairs_of_axis; ++j) columns.push_back({axis, j});
  return columns;
}

Proof axis_rows(const Table& table, std::span<const std::vector<std::int64_t>> positions,
                std::span<const Column> columns, SinCos& out) {
  for (const auto& of_axis : positions)
    if (of_axis.size() != positions.front().size()) throw std::invalid_argument("each axis needs as many positions");
  for (const Column& column : columns)
    if (column.axis < 0 || static_cast<std::size_t>(column.axis) >= positions.size() || column.pair < 0 ||
        column.pair >= table.pairs())
      throw std::invalid_argument("a column needs an axis with positions and a pair of the table");
  const auto rows = positions.empty() ? 0 : static_cast<std::int64_t>(positions.front().size());
  out.resize(rows, static_cast<int>(columns.size()));
  Proof proof;
  SinCos of_axis;
  for (std::size_t axis = 0; axis < positions.size(); ++axis) {
    std::vector<int> pairs;
    std::vector<std::size_t> places;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (static_cast<std::size_t>(columns[c].axis) != axis) continue;
      pairs.push_back(columns[c].pair);
      places.push_back(c);
    }
    if (pairs.empty()) continue;
    proof += table.picked(pairs).sparse(positions[axis], of_axis);
    out.error = of_axis.error;
    for (std::size_t i = 0, from = 0; i < static_cast<std::size_t>(rows); ++i)
      for (const std::size_t place : places) {
        const std::size_t to = i * columns.size() + place;
        out.sin[to] = of_axis.sin[from];
        out.sin_tail[to] = of_axis.sin_tail[from];
        out.cos[to] = of_axis.cos[from];
        out.cos_tail[to] = of_axis.cos_tail[from++];
      }
  }
  return proof;
}

}  // namespace ropewalk::reference
