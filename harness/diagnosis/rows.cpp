#include "harness/diagnosis/rows.hpp"

#include <algorithm>
#include <set>

namespace ropewalk {

Tensor rows_of(const Tensor& tensor, std::span<const std::int64_t> rows) {
  Shape shape = tensor.shape();
  shape[0] = static_cast<std::int64_t>(rows.size());
  const bool in_place =
      !rows.empty() && rows.back() - rows.front() + 1 == shape[0] && std::is_sorted(rows.begin(), rows.end());
  if (in_place) return tensor.rows(rows.front(), shape[0]);
  Tensor out(tensor.dtype(), shape);
  std::byte* to = out.bytes().data();
  for (const std::int64_t row : rows) {
    const Tensor one = tensor.rows(row, 1);
    to = std::copy(one.bytes().begin(), one.bytes().end(), to);
  }
  return out;
}

Stages rows_of(const Stages& stages, std::span<const std::int64_t> rows) {
  Stages out;
  for (const auto& [stage, tensor] : stages) out[stage] = stage == "inv_freq" ? tensor : rows_of(tensor, rows);
  return out;
}

std::vector<std::int64_t> positions_at(const Positions& positions, std::span<const std::int64_t> rows,
                                       std::int64_t axes) {
  std::vector<std::int64_t> out;
  out.reserve(rows.size() * static_cast<std::size_t>(axes));
  for (const std::int64_t row : rows)
    for (std::int64_t axis = 0; axis < axes; ++axis) out.push_back(positions.at(row, axis));
  return out;
}

Positions picked(const Positions& positions, std::span<const std::int64_t> rows) {
  if (positions.axes.empty()) return {0, positions_at(positions, rows)};
  std::vector<std::vector<std::int64_t>> axes(positions.axes.size());
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    for (const std::int64_t row : rows) axes[axis].push_back(positions.at(row, static_cast<std::int64_t>(axis)));
  Positions out;
  out.axes = std::move(axes);
  return out;
}

Tensor row_positions(const Positions& positions, std::int64_t axes) {
  const std::int64_t rows = positions.count();
  Tensor out(DType::int64, axes == 1 ? Shape{rows} : Shape{rows, axes});
  const auto to = out.as<std::int64_t>();
  for (std::int64_t i = 0; i < rows * axes; ++i) to[i] = positions.at(i / axes, i % axes);
  return out;
}

std::vector<std::int64_t> telling_rows(const Positions& positions) {
  constexpr std::int64_t kFew = 128;
  const std::int64_t count = positions.count();
  std::set<std::int64_t> rows;
  for (std::int64_t r = 0; r < count && count <= kFew; ++r) rows.insert(r);
  for (std::int64_t octave = 1; octave < 2 * count; octave *= 2)
    for (const std::int64_t r : {octave - 1, octave, octave + 1, octave + octave / 3})
      if (r < count) rows.insert(r);
  for (std::int64_t r = std::max<std::int64_t>(0, count - 8); r < count; ++r) rows.insert(r);
  for (std::int64_t i = 0; i < 32; ++i) rows.insert(i * (count - 1) / 32);
  return {rows.begin(), rows.end()};
}

}  // namespace ropewalk
