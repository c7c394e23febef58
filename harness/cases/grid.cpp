#include <fmt/format.h>

#include <algorithm>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargestHead = 65536;
constexpr std::size_t kMostPoints = 100000;

Axis::Value read_value(const std::string& name, const Field& field) {
  if (name == "positions") {
    const Positions positions = read_positions(field);
    return {text_of_positions(field), positions, field};
  }
  if (name == "max_position") {
    const Positions positions = read_max_position(field);
    return {positions.limit, positions, field};
  }
  if (name == "head_dim") {
    const std::int64_t dim = field.whole();
    if (dim < 2 || dim > kLargestHead) field.refuse(fmt::format("a whole number from 2 to {} is needed", kLargestHead));
    return {dim, {}, field};
  }
  const double number = field.number();
  if (name == "base" && number <= 0) field.refuse("a number above 0 is needed");
  if (name == "partial_rotary_factor" && (number <= 0 || number > 1))
    field.refuse("a number above 0, at most 1, is needed");
  return {plain_json(number), {}, field};
}

std::string text_of(const Json& param) {
  return param.is_string() ? param.get<std::string>() : plain(param.get<double>());
}

Axis read_axis(const std::string& name, const Field& field) {
  // A position list is one value, so only a list of lists (or of ranges) is a choice of several.
  const bool one_value =
      name == "positions" && field.json().is_array() && !field.json().empty() && !field.json()[0].is_structured();
  Axis axis{name, {}};
  for (const Field& item : one_value ? std::vector{field} : field.one_or_more()) {
    Axis::Value value = read_value(name, item);
    for (const Axis::Value& earlier : axis.values)
      if (earlier.param == value.param)
        item.refuse(text_of(value.param), "two values of this field read alike in ids; each is needed once");
    axis.values.push_back(std::move(value));
  }
  return axis;
}

void set(GridPoint& point, const std::string& name, const Axis::Value& value) {
  if (name == "head_dim") point.rope.head_dim = value.param.get<std::int64_t>();
  if (name == "base") point.rope.base = value.param.get<double>();
  if (name == "partial_rotary_factor") point.rope.partial_rotary_factor = value.param.get<double>();
  if (name == "positions" || name == "max_position") point.positions = value.positions;
  point.params[name] = value.param;
  point.id += (point.id.empty() ? "" : ",") + name + "=" + text_of(value.param);
}

void need_even_width(const Rope& rope, const Field& head_dim) {
  if (rope.rotary_dim() >= 2 && rope.rotary_dim() % 2 == 0) return;
  head_dim.refuse(fmt::format("{} x partial_rotary_factor {}", rope.head_dim, plain(rope.partial_rotary_factor)),
                  fmt::format("an even rotary width of at least 2 is needed; this is {}", rope.rotary_dim()));
}

}  // namespace

bool Axis::takes(const nlohmann::json& param) const {
  return std::any_of(values.begin(), values.end(), [&](const Value& v) { return nlohmann::json(v.param) == param; });
}

std::vector<Axis> read_axes(const Object& rope, const std::optional<Field>& positions_beside) {
  rope.need("head_dim");
  if (positions_beside && rope.has("positions"))
    positions_beside->refuse("positions stand in the rope block or beside it");
  if (rope.has("max_position") && (rope.has("positions") || positions_beside))
    rope.need("max_position").refuse("either max_position or positions");
  if (!rope.has("max_position") && !rope.has("positions") && !positions_beside) rope.need("max_position");
  std::vector<Axis> axes;
  for (const auto& [name, field] : rope.members()) axes.push_back(read_axis(name, field));
  if (positions_beside) axes.push_back(read_axis("positions", *positions_beside));
  return axes;
}

std::vector<GridPoint> expand(const std::vector<Axis>& axes, const Field& rope) {
  std::vector<GridPoint> points(1);
  for (const Axis& axis : axes) {
    if (points.size() * axis.values.size() > kMostPoints)
      rope.refuse(axis.name, fmt::format("the product of all lists may have {} entries", kMostPoints));
    std::vector<GridPoint> wider;
    for (const GridPoint& point : points) {
      for (const Axis::Value& value : axis.values) {
        wider.push_back(point);
        set(wider.back(), axis.name, value);
      }
    }
    points = std::move(wider);
  }
  for (const GridPoint& point : points)
    for (const Axis& axis : axes)
      if (axis.name == "head_dim")
        for (const Axis::Value& value : axis.values)
          if (value.param == point.rope.head_dim) need_even_width(point.rope, value.where);
  return points;
}

}  // namespace ropewalk
