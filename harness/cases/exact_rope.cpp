#include "harness/cases/exact_rope.hpp"

#include "reference/axes.hpp"

namespace ropewalk {

reference::Frequencies frequencies_of(const Rope& rope) {
  const auto width = static_cast<int>(rope.rotary_dim());
  if (rope.axial) {
    std::vector<int> pairs;
    for (const reference::Column& column : reference::axial_columns(width / 4)) pairs.push_back(column.pair);
    return reference::Frequencies::scaled(rope.base, width / 2, rope.scaling).picked(pairs);
  }
  return reference::Frequencies::scaled(rope.base, width, rope.scaling);
}

reference::Amplitude amplitude_of(const Rope& rope) { return reference::Amplitude::of(rope.scaling); }

reference::Table table_of(const Rope& rope) { return {frequencies_of(rope), amplitude_of(rope)}; }

std::vector<int> axis_of_pairs(const Rope& rope) {
  if (rope.axes() == 1) return std::vector<int>(static_cast<std::size_t>(rope.rotary_dim() / 2));
  const std::vector<int> sections(rope.mrope_section.begin(), rope.mrope_section.end());
  std::vector<int> out;
  for (const reference::Column& column : rope.axial ? reference::axial_columns(static_cast<int>(rope.rotary_dim() / 4))
                                                    : reference::mrope_columns(sections, rope.mrope_interleaved))
    out.push_back(column.axis);
  return out;
}

}  // namespace ropewalk
