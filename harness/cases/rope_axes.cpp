// The fields of a rope block that say which of several axes each pair turns by.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "harness/cases/cell.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kMostPairs = 32768;

Axis::Value sections(const Field& field) {
  const std::vector<Field> items = field.items();
  if (items.size() < 2 || items.size() > kMostAxes)
    field.refuse(fmt::format("a number of pairs for each of 2 to {} axes is needed", kMostAxes));
  for (const Field& item : items)
    if (item.whole() < 1 || item.whole() > kMostPairs)
      item.refuse(fmt::format("a number of pairs from 1 to {} is needed", kMostPairs));
  return {fmt::format("{}", fmt::join(field.json().get<std::vector<std::int64_t>>(), ";")), {}, field};
}

Axis::Value flag(const Field& field) { return {field.flag(), {}, field}; }

constexpr std::array<FieldRule, 3> kRules{{
    {"mrope_section", false, sections,
     [](GridPoint& p, const Axis::Value& v) { v.where.json().get_to(p.rope.mrope_section); }},
    {"mrope_interleaved", false, flag,
     [](GridPoint& p, const Axis::Value& v) { v.param.get_to(p.rope.mrope_interleaved); }},
    {"axial", false, flag, [](GridPoint& p, const Axis::Value& v) { v.param.get_to(p.rope.axial); }},
}};

}  // namespace

std::span<const FieldRule> axes_rules() { return kRules; }

Json axes_block(const Rope& rope) {
  if (rope.axial) return {{"type", "axial"}};
  if (rope.mrope_section.empty()) return nullptr;
  return {{"type", "mrope"}, {"mrope_section", rope.mrope_section}, {"mrope_interleaved", rope.mrope_interleaved}};
}

void read_axes_block(const Field& block, Rope& rope) {
  constexpr std::array<std::string_view, 2> kTypes{"mrope", "axial"};
  const Object object(block, {"type", "mrope_section", "mrope_interleaved"});
  GridPoint point;
  point.rope = rope;
  point.rope.axial = object.need("type").choice(kTypes) == 1;
  if (!point.rope.axial) object.need("mrope_section");
  for (const FieldRule& rule : kRules)
    if (const auto field = object.find(std::string(rule.name))) rule.set(point, rule.read(*field));
  check_axes(point.rope, block);
  rope = point.rope;
}

void check_sections(const Rope& rope, const Field& field) {
  const std::int64_t pairs = rope.rotary_dim() / 2;
  const std::int64_t sum = std::accumulate(rope.mrope_section.begin(), rope.mrope_section.end(), std::int64_t{0});
  if (sum != pairs)
    field.refuse(
        fmt::format("numbers with the sum {} are needed: half of the rotary width; these make {}", pairs, sum));
  try {
    axis_of_pairs(rope);
  } catch (const std::invalid_argument&) {
    field.refuse(
        fmt::format("interleaved: axis a takes the pairs a, a + {0}, ... below {0} times its section, and "
                    "there are {1} pairs",
                    rope.axes(), pairs));
  }
}

void check_axes(const Rope& rope, const Field& block) {
  if (rope.mrope_section.empty() && block.json().contains("mrope_interleaved"))
    block.at("mrope_interleaved").refuse("this goes with mrope_section only");
  if (!rope.mrope_section.empty()) {
    if (rope.axial) block.at("axial").refuse("either axial or mrope_section");
    check_sections(rope, block.at("mrope_section"));
  }
  if (!rope.axial) return;
  if (rope.rotary_dim() % 4 != 0)
    block.at("axial").refuse(fmt::format(
        "a rotary width that is a multiple of 4 is needed: each half has whole pairs; this is {}", rope.rotary_dim()));
  if (rope.scaling.type != reference::Scaling::Type::none)
    block.at("scaling").refuse("axial positions go without scaling");
}

void check_axes_of_positions(const GridPoint& point, const Field& positions) {
  if (std::ssize(point.positions.axes) != point.rope.axes())
    positions.refuse(fmt::format("positions on {} axes", point.positions.axes.size()),
                     point.rope.axes() == 1 ? "positions on one axis; several need mrope_section or axial in the rope"
                                            : fmt::format("the rope turns by {}", point.rope.axes()));
}

}  // namespace ropewalk
