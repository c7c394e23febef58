// Positions on several axes: written out for each axis, or as the tokens of a sequence with images in it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kMostRows = kPastLastPosition;
constexpr std::size_t kMostWritten = 8;  // numbers of an axis that an id spells out

std::vector<std::int64_t> one_axis(const Field& field) {
  std::vector<std::int64_t> out;
  for (const Field& item : field.items()) out.push_back(position_in(item));
  return out;
}

// Every place of a grid in row-major order, the first axis slowest.
void add_grid(const Field& item, std::int64_t& next, std::vector<std::vector<std::int64_t>>& axes) {
  std::vector<std::int64_t> sizes;
  std::int64_t places = 1;
  for (const Field& extent : item.items()) {
    sizes.push_back(count_in(extent));
    places *= sizes.back();
    if (places > kMostRows) item.refuse(fmt::format("a grid of at most {} places is needed", kMostRows));
  }
  if (sizes.size() != axes.size())
    item.refuse(fmt::format("as many numbers as the grids before it have are needed, {}", axes.size()));
  for (std::int64_t place = 0; place < places; ++place) {
    std::int64_t rest = place;
    for (std::size_t a = axes.size(); a-- > 0; rest /= sizes[a]) axes[a].push_back(next + rest % sizes[a]);
  }
  next += *std::max_element(sizes.begin(), sizes.end());
}

bool is_grid(const Field& item) { return item.json().is_array(); }

// As many axes as the first grid has; without a grid one.
std::size_t axes_in(const std::vector<Field>& items) {
  const auto grid = std::find_if(items.begin(), items.end(), is_grid);
  if (grid == items.end()) return 1;
  const std::size_t axes = grid->items().size();
  if (axes < 2 || axes > kMostAxes)
    grid->refuse(fmt::format("a grid has 2 to {} numbers, one for each axis", kMostAxes));
  return axes;
}

}  // namespace

Positions read_axis_lists(const Field& field) {
  const Object object(field, {"axes"});
  const Field lists = object.need("axes");
  std::vector<std::vector<std::int64_t>> axes;
  for (const Field& list : lists.items()) {
    axes.push_back(one_axis(list));
    if (axes.back().size() != axes[0].size())
      list.refuse(fmt::format("{} positions", axes.back().size()),
                  fmt::format("as many as the first axis has are needed, {}", axes[0].size()));
  }
  if (axes.size() < 2 || axes.size() > kMostAxes)
    lists.refuse(fmt::format("{} lists", axes.size()), fmt::format("2 to {} axes are needed", kMostAxes));
  return {0, {}, std::move(axes)};
}

// The positions that Qwen2-VL gives: text counts on from the largest number before it, alike on all axes; the places of
// a grid count from there on each axis.
Positions read_tokens(const Field& field, std::int64_t own) {
  const std::vector<Field> items = Object(field, {"tokens"}).need("tokens").items();
  std::vector<std::vector<std::int64_t>> axes(axes_in(items));
  std::int64_t next = 0;
  for (const Field& item : items) {
    std::vector<std::int64_t> text;
    if (is_grid(item)) {
      add_grid(item, next, axes);
    } else if (item.json().is_object()) {
      if (item.json().contains("axes") || item.json().contains("tokens"))
        item.refuse("positions of one axis are needed here");
      text = read_positions(item, own).all();
      if (text.front() < next) item.refuse(fmt::format("positions from {} on are needed: it is the next one", next));
    } else {
      text.resize(static_cast<std::size_t>(count_in(item)));
      std::iota(text.begin(), text.end(), next);
    }
    for (auto& axis : axes) axis.insert(axis.end(), text.begin(), text.end());
    if (!text.empty()) next = text.back() + 1;
    if (next > kPastLastPosition) item.refuse(fmt::format("positions up to {} are needed", kPastLastPosition - 1));
    if (std::ssize(axes[0]) > kMostRows) item.refuse(fmt::format("at most {} tokens are needed", kMostRows));
  }
  if (axes.size() == 1) return {0, axes[0]};
  return {0, {}, std::move(axes)};
}

std::string text_of_axis_lists(const Field& field) {
  std::string text;
  for (const auto& axis : read_axis_lists(field).axes)
    text += axis.size() <= kMostWritten ? fmt::format("({})", fmt::join(axis, ";"))
                                        : fmt::format("({};{};..;{};{})", axis[0], axis[1], axis.back(), axis.size());
  return text;
}

std::string text_of_tokens(const Field& field) {
  std::vector<std::string> parts;
  for (const Field& item : Object(field, {"tokens"}).need("tokens").items()) {
    std::vector<std::int64_t> sizes;
    if (item.json().is_object())
      parts.push_back(text_of_positions(item));
    else
      for (const Field& extent : item.one_or_more()) sizes.push_back(extent.whole());
    if (!sizes.empty()) parts.push_back(fmt::format("{}", fmt::join(sizes, "x")));
  }
  return fmt::format("tokens({})", fmt::join(parts, "+"));
}

}  // namespace ropewalk
