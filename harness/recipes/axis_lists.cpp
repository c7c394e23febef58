#include "harness/recipes/axis_lists.hpp"

#include <algorithm>

#include "harness/cases/exact_rope.hpp"

namespace ropewalk {
namespace {

using List = std::vector<std::int64_t>;

List columns(const List& axis_of_pair) {
  List out;
  for (std::int64_t j = 0; j < std::ssize(axis_of_pair); ++j)
    out.push_back(axis_of_pair[static_cast<std::size_t>(j)] * std::ssize(axis_of_pair) + j);
  return out;
}

List blocks(const List& sections) {
  List out;
  for (std::int64_t axis = 0; axis < std::ssize(sections); ++axis)
    out.insert(out.end(), static_cast<std::size_t>(sections[static_cast<std::size_t>(axis)]), axis);
  return out;
}

// As Python's slice(axis, axes * section, axes) takes them: what lies beyond the last pair is left out.
List turns_about(const List& sections) {
  List out = blocks(sections);
  std::fill(out.begin(), out.end(), 0);
  const std::int64_t axes = std::ssize(sections);
  for (std::int64_t axis = 1; axis < axes; ++axis)
    for (std::int64_t j = axis; j < std::min(axes * sections[static_cast<std::size_t>(axis)], std::ssize(out));
         j += axes)
      out[static_cast<std::size_t>(j)] = axis;
  return out;
}

List counted_anew(const List& sections) {
  List out;
  for (const std::int64_t section : sections)
    for (std::int64_t j = 0; j < section; ++j) out.push_back(j);
  return out;
}

}  // namespace

std::map<std::string, List> axis_lists(const Rope& rope) {
  const std::int64_t axes = rope.axes();
  if (axes == 1) return {};
  const std::vector<int> axis_of_pair = axis_of_pairs(rope);
  const List own(axis_of_pair.begin(), axis_of_pair.end());
  List exchanged = own;
  for (std::int64_t& axis : exchanged)
    if (axis >= axes - 2) axis = 2 * axes - 3 - axis;
  const List sections = rope.axial ? List{rope.rotary_dim() / 4, rope.rotary_dim() / 4} : rope.mrope_section;
  return {{"axis_columns", columns(own)},
          {"axis_columns_exchanged", columns(exchanged)},
          {"axis_columns_blocked", columns(blocks(sections))},
          {"axis_columns_interleaved", columns(turns_about(sections))},
          {"pairs_of_sections", counted_anew(sections)}};
}

}  // namespace ropewalk
