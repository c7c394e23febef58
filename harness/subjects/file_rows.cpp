#include "harness/subjects/file_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

using Row = std::span<const std::int64_t>;  // a position on each axis

std::string text_of(Row row) {
  return row.size() == 1 ? std::to_string(row[0]) : fmt::format("({})", fmt::join(row, ", "));
}

bool before(Row a, Row b) { return std::ranges::lexicographical_compare(a, b); }

// [rows * axes], row by row.
std::vector<std::int64_t> in_case(const Case& problem) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < problem.positions.count(); ++i)
    for (std::int64_t axis = 0; axis < problem.rope.axes(); ++axis) out.push_back(problem.positions.at(i, axis));
  return out;
}

std::vector<std::int64_t> in_table(const Tensor& given, std::int64_t axes) {
  const auto all = given.as<std::int64_t>();
  const auto times = static_cast<std::size_t>(given.shape().size() == 1 ? axes : 1);
  std::vector<std::int64_t> out;
  for (const std::int64_t p : all) out.insert(out.end(), times, p);
  return out;
}

std::vector<std::int64_t> rows_at(const Case& problem, const Tensor& given) {
  const auto axes = static_cast<std::size_t>(problem.rope.axes());
  const auto wanted = in_case(problem), there = in_table(given, problem.rope.axes());
  std::vector<std::int64_t> out(wanted.size() / axes), ascending(there.size() / axes);
  std::iota(out.begin(), out.end(), 0);
  if (there == wanted) return out;
  const auto row = [&](std::int64_t i) { return Row(there).subspan(static_cast<std::size_t>(i) * axes, axes); };
  std::iota(ascending.begin(), ascending.end(), 0);
  std::ranges::sort(ascending, before, row);
  const auto twice = std::ranges::adjacent_find(ascending, std::ranges::equal, row);
  if (twice != ascending.end())
    throw SubjectError(fmt::format("positions has {} twice; accepted: each position once", text_of(row(*twice))));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Row one = Row(wanted).subspan(i * axes, axes);
    const auto found = std::ranges::lower_bound(ascending, one, before, row);
    if (found == ascending.end() || before(one, row(*found)))
      throw SubjectError(fmt::format("positions of the file lacks position {} of the case", text_of(one)));
    out[i] = *found;
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> rows_in_table(const Case& problem, std::int64_t table_rows, const Tensor* given) {
  if (given != nullptr) return rows_at(problem, *given);
  const Positions& positions = problem.positions;
  const bool in_order = table_rows == positions.count();
  if (!in_order && problem.rope.axes() > 1)
    throw SubjectError(fmt::format("the file has {} rows and no positions; accepted: {}, one for each row of the case",
                                   table_rows, positions.count()));
  if (!in_order && table_rows <= positions.largest())
    throw SubjectError(
        fmt::format("the file has {} rows; accepted: {}, one for each position of the case, or a table "
                    "from position 0 to at least {}",
                    table_rows, positions.count(), positions.largest()));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(positions.count()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = in_order ? static_cast<std::int64_t>(i) : positions.at(static_cast<std::int64_t>(i));
  return rows;
}

}  // namespace ropewalk
