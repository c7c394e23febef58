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

std::vector<std::int64_t> positions_at(const Positions& positions, std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> out;
  out.reserve(rows.size());
  for (const std::int64_t row : rows) out.push_back(positions.at(row));
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
