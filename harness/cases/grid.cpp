#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargestHead = 65536;
constexpr std::size_t kMostPoints = 100000;

Axis::Value read_head_dim(const Field& field) {
  const std::int64_t dim = field.whole();
  if (dim < 2 || dim > kLargestHead) field.refuse(fmt::format("a whole number from 2 to {} is needed", kLargestHead));
  return {dim, {}, field};
}

Axis::Value read_base(const Field& field) {
  const double base = field.number();
  if (base <= 0) field.refuse("a number above 0 is needed");
  if (base < std::numeric_limits<double>::min()) field.refuse("a normal number is needed: at least 2.3e-308");
  return {plain_json(base), {}, field};
}

Axis::Value read_factor(const Field& field) {
  const double factor = field.number();
  if (factor <= 0 || factor > 1) field.refuse("a number above 0, at most 1, is needed");
  return {plain_json(factor), {}, field};
}

void set_positions(GridPoint& point, const Axis::Value& value) { point.positions = value.positions; }

constexpr std::array<FieldRule, 5> kRope{{
    {"head_dim", true, read_head_dim,
     [](GridPoint& p, const Axis::Value& v) { p.rope.head_dim = v.param.get<std::int64_t>(); }},
    {"base", false, read_base, [](GridPoint& p, const Axis::Value& v) { p.rope.base = v.param.get<double>(); }},
    {"max_position", false,
     [](const Field& field) {
       const Positions positions = read_max_position(field);
       return Axis::Value{positions.limit, positions, field};
     },
     set_positions},
    {"positions", false,
     [](const Field& field) {
       const Positions positions = read_positions(field);
       return Axis::Value{text_of_positions(field), positions, field};
     },
     set_positions},
    {"partial_rotary_factor", false, read_factor,
     [](GridPoint& p, const Axis::Value& v) { p.rope.partial_rotary_factor = v.param.get<double>(); }},
}};

// Fields that are lists by nature: only a list of lists (or of ranges) is a choice of several.
bool one_value(const FieldRule& rule, const Field& field) {
  static constexpr std::array<std::string_view, 6> kLists{"positions",   "enable",  "short_factor",
                                                          "long_factor", "lengths", "mrope_section"};
  return std::find(kLists.begin(), kLists.end(), rule.name) != kLists.end() && field.json().is_array() &&
         !field.json().empty() && !field.json()[0].is_structured();
}

std::string text_of(const Json& param) {
  if (param.is_string()) return param.get<std::string>();
  if (param.is_boolean()) return param.get<bool>() ? "true" : "false";
  if (!param.is_array()) return plain(param.get<double>());
  if (param[0].is_number())  // as positions: (1.08..64.2;48)
    return fmt::format("({}..{};{})", plain(param[0].get<double>()), plain(param.back().get<double>()), param.size());
  std::string text;  // of flags: 101
  for (const Json& flag : param) text += flag.get<bool>() ? '1' : '0';
  return text;
}

void add_param(GridPoint& point, const std::string& name, const Json& param) {
  point.params[name] = param;
  point.id += (point.id.empty() ? "" : ",") + name + "=" + text_of(param);
}

void need_even_width(const Rope& rope, const Field& head_dim) {
  if (rope.rotary_dim() >= 2 && rope.rotary_dim() % 2 == 0) return;
  head_dim.refuse(fmt::format("{} x partial_rotary_factor {}", rope.head_dim, plain(rope.partial_rotary_factor)),
                  fmt::format("an even rotary width of at least 2 is needed; this is {}", rope.rotary_dim()));
}

// The field of a value, for refusing what it does together with the others.
template <class T>
const Field& where(const std::vector<Axis>& axes, const std::string& name, const T& param) {
  for (const Axis& axis : axes)
    for (const Axis::Value& value : axis.values)
      if (axis.name == name && value.param == param) return value.where;
  return axes.front().values.front().where;
}

void need_division(const std::vector<Axis>& axes, std::int64_t heads, const char* few, std::int64_t kv_heads) {
  if (heads % kv_heads != 0) where(axes, few, kv_heads).refuse(fmt::format("a divisor of heads {} is needed", heads));
}

// What the sizes of one problem allow together.
void check_attention(const GridPoint& point, const std::vector<Axis>& axes) {
  const Attention& a = point.attention;
  const std::int64_t keys = point.positions.count();
  need_division(axes, a.heads, "kv_heads", a.kv_heads);
  if (a.first_query(keys) < 0 || a.first_query(keys) + a.queries(keys) > keys)
    where(axes, "q_len", a.q_len).refuse(fmt::format("offset and queries together are at most the {} positions", keys));
  if (a.padding >= keys) where(axes, "padding", a.padding).refuse(fmt::format("less than the {} keys", keys));
  if (a.inputs == "visible" && keys > point.rope.head_dim)
    where(axes, "inputs", a.inputs).refuse("this shows one key in each channel: at most head_dim positions");
}

}  // namespace

Axis read_axis(const FieldRule& rule, const Field& field) {
  Axis axis{std::string(rule.name), rule.set, {}};
  for (const Field& item : one_value(rule, field) ? std::vector{field} : field.one_or_more()) {
    Axis::Value value = rule.read(item);
    for (const Axis::Value& earlier : axis.values)
      if (earlier.param == value.param)
        item.refuse(text_of(value.param), "two values of this field read alike in ids; each is needed once");
    axis.values.push_back(std::move(value));
  }
  return axis;
}

bool Axis::takes(const nlohmann::json& param) const {
  return std::any_of(values.begin(), values.end(), [&](const Value& v) { return nlohmann::json(v.param) == param; });
}

std::vector<Axis> read_axes(const Field& block, std::span<const FieldRule> rules) {
  std::vector<std::string> known;
  for (const FieldRule& rule : rules) known.emplace_back(rule.name);
  const Object object(block, known);
  for (const FieldRule& rule : rules)
    if (rule.needed) object.need(std::string(rule.name));
  std::vector<Axis> axes;
  for (const auto& [name, field] : object.members())
    axes.push_back(read_axis(*std::find_if(rules.begin(), rules.end(),
                                           [&wanted = name](const FieldRule& rule) { return rule.name == wanted; }),
                             field));
  return axes;
}

std::vector<Axis> read_rope_axes(const Field& rope, const std::optional<Field>& positions_beside, bool by_state) {
  std::vector<FieldRule> rules(kRope.begin(), kRope.end());
  rules.insert(rules.end(), scaling_rules().begin(), scaling_rules().end());
  rules.insert(rules.end(), axes_rules().begin(), axes_rules().end());
  std::vector<Axis> axes = read_axes(rope, rules);
  const Json& fields = rope.json();
  if (positions_beside && fields.contains("positions"))
    positions_beside->refuse("positions stand in the rope block or beside it");
  const bool limit = fields.contains("max_position"), listed = fields.contains("positions") || positions_beside;
  if (limit && listed) rope.inside("max_position", fields["max_position"]).refuse("either max_position or positions");
  if (!limit && !listed && !by_state)
    Object(rope, {"head_dim", "base", "max_position", "partial_rotary_factor"}).need("max_position");
  if (positions_beside) axes.push_back(read_axis(kRope[3], *positions_beside));
  return axes;
}

std::vector<Axis> read_attention_axes(const Field& attention, bool of_model) {
  std::vector<FieldRule> rules(attention_rules().begin(), attention_rules().end());
  for (FieldRule& rule : rules) rule.needed = rule.needed && !of_model;
  return read_axes(attention, rules);
}

std::vector<GridPoint> expand(const std::vector<Axis>& axes, const Field& where) {
  std::vector<GridPoint> points(1);
  for (const Axis& axis : axes) {
    if (points.size() * axis.values.size() > kMostPoints)
      where.refuse(axis.name, fmt::format("the product of all lists may have {} entries", kMostPoints));
    std::vector<GridPoint> wider;
    for (const GridPoint& point : points) {
      for (const Axis::Value& value : axis.values) {
        GridPoint& next = wider.emplace_back(point);
        axis.set(next, value);
        add_param(next, axis.name, value.param);
        if (value.model && !value.model->layer.type.empty()) add_param(next, "layer_type", value.model->layer.type);
      }
    }
    points = std::move(wider);
  }
  return points;
}

void check_points(Kind kind, const std::vector<GridPoint>& points, const std::vector<Axis>& axes, const Field& block) {
  for (const GridPoint& point : points) {
    if (kind != Kind::lora && !point.model) need_even_width(point.rope, where(axes, "head_dim", point.rope.head_dim));
    if (kind != Kind::lora && !point.model) check_scaling(point.rope, block);
    if (kind != Kind::lora && !point.model) check_axes(point.rope, block);
    if (!point.positions.axes.empty())
      check_axes_of_positions(point, where(axes, "positions", point.params["positions"]));
    if (kind == Kind::lora) need_division(axes, point.lora.heads, "groups", point.lora.groups);
    if (kind == Kind::attention) check_attention(point, axes);
    if (point.state.built_for > 0 && point.rope.scaling.type == reference::Scaling::Type::dynamic)
      where(axes, "built_for", point.state.built_for)
          .refuse("with dynamic scaling a table is first built for max_position_embeddings");
  }
}

}  // namespace ropewalk
