#include "harness/golden/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/table.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 24;  // as in case files

std::int64_t position_in(const Field& field) {
  const std::int64_t position = field.whole();
  if (position < 0 || position > reference::kMaxPosition) field.refuse("positions are 0 to 2^53");
  return position;
}

Rows rows_in(const std::vector<std::int64_t>& list) {
  const std::int64_t step = list.size() > 1 ? list[1] - list[0] : 1;
  const auto irregular =
      std::adjacent_find(list.begin(), list.end(), [&](std::int64_t a, std::int64_t b) { return b - a != step; });
  if (irregular != list.end() || step < 1) return {0, 1, 0, list};
  return {list[0], step, static_cast<std::int64_t>(list.size()), {}};
}

}  // namespace

Rows rows_of(const Positions& positions) {
  return positions.list.empty() ? Rows{0, 1, positions.limit, {}} : rows_in(positions.list);
}

std::vector<Rows> axis_rows_of(const Positions& positions) {
  if (positions.axes.empty()) return {rows_of(positions)};
  std::vector<Rows> out;
  for (const auto& axis : positions.axes) out.push_back(rows_in(axis));
  return out;
}

Json to_json(const std::vector<Rows>& axes) {
  if (axes.size() == 1) return to_json(axes[0]);
  Json lists = Json::array();
  for (const Rows& rows : axes) lists.push_back(to_json(rows));
  return {{"axes", lists}};
}

std::vector<Rows> read_axis_rows(const Field& field, std::int64_t axes) {
  if (!field.json().is_object() || !field.json().contains("axes")) return {read_rows(field)};
  const Field lists = Object(field, {"axes"}).need("axes");
  std::vector<Rows> out;
  for (const Field& list : lists.items()) {
    out.push_back(read_rows(list));
    if (out.back().size() != out[0].size())
      list.refuse(fmt::format("as many positions as the first axis has, {}", out[0].size()));
  }
  if (std::ssize(out) != axes || axes == 1) lists.refuse(fmt::format("positions on {} axes, as \"axes\" says", axes));
  return out;
}

Json to_json(const Rows& rows) {
  if (!rows.list.empty()) return rows.list;
  return {{"from", rows.first}, {"to", rows.at(rows.count - 1)}, {"step", rows.step}};
}

Rows read_rows(const Field& field) {
  if (field.json().is_array()) {
    Rows rows;
    for (const Field& item : field.items()) rows.list.push_back(position_in(item));
    return rows;
  }
  const Object range(field, {"from", "to", "step"});
  const std::int64_t from = position_in(range.need("from")), to = position_in(range.need("to"));
  const std::int64_t step = range.need("step").whole();
  if (to < from) range.need("to").refuse("the last position is not below the first, \"from\"");
  if (step < 1 || (to - from) % step != 0) range.need("step").refuse("steps of at least 1 that meet the last position");
  const std::int64_t count = (to - from) / step + 1;
  if (count > kMostRows) range.need("to").refuse(fmt::format("at most {} positions", kMostRows));
  return {from, step, count, {}};
}

}  // namespace ropewalk
