// A file of tensors as a subject.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "harness/bad_input.hpp"
#include "harness/subjects/file_rows.hpp"
#include "harness/subjects/subject.hpp"
#include "harness/subjects/table_stages.hpp"
#include "harness/tensors/read_tensors.hpp"

namespace ropewalk {
namespace {

bool has_rows(const std::string& stage) { return stage == "angle" || stage == "cos" || stage == "sin"; }

Stages read_stages(const SubjectSpec& spec) {
  const std::string file = spec.tensors.string();
  const std::map<std::string, Tensor> tensors = read_tensors(spec.tensors);
  const auto known = stages_of(Kind::table);
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  const std::string contents = fmt::format("the file has: {}", fmt::join(names, ", "));
  for (const auto& [stage, name] : spec.map) {
    if (std::find(known.begin(), known.end(), stage) == known.end())
      throw BadInput(file, "map", stage, fmt::format("accepted: {}", fmt::join(known, ", ")));
    if (!tensors.contains(name)) throw BadInput(file, "map." + stage, name, "no such tensor; " + contents);
  }
  Stages stages;
  for (const std::string_view name : known) {
    const std::string stage(name);
    const auto renamed = spec.map.find(stage);
    const auto found = tensors.find(renamed == spec.map.end() ? stage : renamed->second);
    if (found != tensors.end()) stages.emplace(stage, found->second);
  }
  if (stages.empty() || (stages.size() == 1 && stages.contains("positions")))
    throw BadInput(file, "", "",
                   fmt::format("no stage in it; accepted: {} by these names or by a map; {}",
                               fmt::join(known.begin() + 1, known.end(), ", "), contents));
  return stages;
}

// Leading axes of size 1 (batch, heads) go, down to the rank that the stage has.
Tensor squeezed(const std::string& stage, const Tensor& tensor) {
  const std::size_t rank = has_rows(stage) ? 2 : 1;
  Shape shape = tensor.shape();
  while (shape.size() > rank && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() != rank)
    throw SubjectError(fmt::format("{} has shape {}; accepted: {}", stage, shape_text(tensor.shape()),
                                   rank == 2 ? "[rows, pairs], with axes of size 1 before it" : "one axis"));
  return tensor.reshaped(shape);
}

// Positions on several axes as [rows, axes], those of text as [rows].
Tensor by_axis(const Tensor& positions, std::int64_t axes) {
  Shape shape = positions.shape();
  while (shape.size() > 2 && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() != 1 && (shape.size() != 2 || shape[1] != axes))
    throw SubjectError(fmt::format("positions has shape {}; accepted: [rows, {}], or [rows] where all axes are alike",
                                   shape_text(positions.shape()), axes));
  return positions.reshaped(shape);
}

std::int64_t rows_of(const Stages& stages) {
  const auto first = std::find_if(stages.begin(), stages.end(), [](const auto& item) { return has_rows(item.first); });
  if (first == stages.end()) return 0;
  const std::int64_t rows = first->second.shape()[0];
  for (const auto& [stage, tensor] : stages)
    if (stage != "inv_freq" && tensor.shape()[0] != rows)
      throw SubjectError(fmt::format("{} has {} rows, {} has {}; accepted: as many in each", first->first, rows, stage,
                                     tensor.shape()[0]));
  return rows;
}

enum class Layout { half, interleaved };  // column i + pairs repeats column i; column 2i + 1 repeats column 2i

// The first column of a row where the copy of a pair's value has other bits.
std::optional<std::int64_t> first_difference(const std::byte* row, std::int64_t pairs, std::size_t bytes,
                                             Layout layout) {
  const auto same = [&](std::int64_t a, std::int64_t b) {
    return std::memcmp(row + a * static_cast<std::int64_t>(bytes), row + b * static_cast<std::int64_t>(bytes), bytes) ==
           0;
  };
  const auto half_bytes = static_cast<std::size_t>(pairs) * bytes;
  if (layout == Layout::half && std::memcmp(row, row + half_bytes, half_bytes) == 0) return std::nullopt;
  for (std::int64_t i = 0; i < pairs; ++i)
    if (layout == Layout::half ? !same(i, i + pairs) : !same(2 * i, 2 * i + 1))
      return layout == Layout::half ? i + pairs : 2 * i + 1;
  return std::nullopt;
}

// The layout that every full-width stage has in every row; half if both fit (nothing but equal values does that).
Layout find_layout(const Stages& stages, std::int64_t pairs, const std::vector<std::int64_t>& rows) {
  std::string where;
  for (const Layout layout : {Layout::half, Layout::interleaved}) {
    bool fits = true;
    for (const auto& [stage, tensor] : stages) {
      if (!has_rows(stage) || tensor.shape()[1] != 2 * pairs) continue;
      const std::size_t bytes = bytes_of(tensor.dtype());
      for (const std::int64_t row : rows) {
        const std::byte* start = tensor.bytes().data() + row * 2 * pairs * static_cast<std::int64_t>(bytes);
        const auto column = first_difference(start, pairs, bytes, layout);
        if (!column) continue;
        fits = false;
        where += fmt::format("; {} differ at {}[{}, {}]", layout == Layout::half ? "halves" : "neighbours", stage, row,
                             *column);
        break;
      }
      if (!fits) break;
    }
    if (fits) return layout;
  }
  throw SubjectError(
      fmt::format("{} columns for {} pairs; accepted: {}, or twice as many with both halves or all "
                  "neighbours equal in every bit{}",
                  2 * pairs, pairs, pairs, where));
}

// These rows with one column a pair. What needs no change stays where it is.
Tensor reduced(const Tensor& tensor, std::int64_t pairs, std::span<const std::int64_t> rows, Layout layout) {
  const std::int64_t width = tensor.shape()[1];
  const auto count = static_cast<std::int64_t>(rows.size());
  const bool contiguous =
      count > 0 && rows.back() - rows.front() == count - 1 && std::is_sorted(rows.begin(), rows.end());
  if (width == pairs && contiguous) return tensor.rows(rows.front(), count);
  Tensor out(tensor.dtype(), {count, pairs});
  const auto bytes = static_cast<std::int64_t>(bytes_of(tensor.dtype()));
  std::byte* to = out.bytes().data();
  for (const std::int64_t row : rows) {
    const std::byte* from = tensor.bytes().data() + row * width * bytes;
    if (width == pairs || layout == Layout::half) {
      to = std::copy_n(from, pairs * bytes, to);
    } else {
      for (std::int64_t i = 0; i < pairs; ++i) to = std::copy_n(from + 2 * i * bytes, bytes, to);
    }
  }
  return out;
}

// These rows of positions [rows] or [rows, axes], as they are to be delivered.
Tensor picked(const Tensor& positions, std::span<const std::int64_t> rows, std::int64_t axes) {
  const auto count = static_cast<std::int64_t>(rows.size());
  Tensor out(DType::int64, axes == 1 ? Shape{count} : Shape{count, axes});
  const auto from = positions.as<std::int64_t>();
  const auto to = out.as<std::int64_t>();
  const bool alike = positions.shape().size() == 1;
  for (std::int64_t i = 0; i < count * axes; ++i)
    to[i] = alike ? from[rows[i / axes]] : from[rows[i / axes] * axes + i % axes];
  return out;
}

class TensorFileSubject final : public Subject {
 public:
  explicit TensorFileSubject(const SubjectSpec& spec) : spec_(spec), in_file_(read_stages(spec)) {}

  void prepare(const Case& problem) override {
    stages_.clear();
    axes_ = problem.rope.axes();
    const std::int64_t pairs = problem.rope.rotary_dim() / 2;
    Stages stages;
    for (const auto& [stage, tensor] : in_file_) {
      check_dtype(stage, tensor, problem.dtype);
      const bool several = stage == "positions" && axes_ > 1;
      stages.emplace(stage, several ? by_axis(tensor, axes_) : squeezed(stage, tensor));
      const std::int64_t width = stages[stage].shape().back();
      if (stage != "positions" && width != pairs && !(has_rows(stage) && width == 2 * pairs))
        throw SubjectError(
            fmt::format("{} has shape {}; the case has {} pairs", stage, shape_text(tensor.shape()), pairs));
    }
    const auto given = stages.find("positions");
    rows_.clear();
    if (stages.size() > stages.count("inv_freq")) {
      rows_ = rows_in_table(problem, rows_of(stages), given == stages.end() ? nullptr : &given->second);
    }
    pairs_ = pairs;
    layout_ = find_layout(stages, pairs, rows_);
    stages_ = std::move(stages);
  }

  Stages rows(std::int64_t first, std::int64_t count) override {
    Stages block;
    for (const auto& [stage, tensor] : stages_) {
      if (stage == "inv_freq") {
        block.emplace(stage, tensor);
        continue;
      }
      const auto rows = std::span(rows_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      block.emplace(stage, has_rows(stage) ? reduced(tensor, pairs_, rows, layout_) : picked(tensor, rows, axes_));
    }
    return block;
  }

  SubjectInfo info() const override {
    SubjectInfo info;
    info.name = spec_.name;
    info.tensors = spec_.tensors.string();
    info.claims = spec_.claims;
    return info;
  }

 private:
  SubjectSpec spec_;
  Stages in_file_;  // as the file has them
  // Of the case that is prepared: stages without leading axes, the file's row for each of its rows.
  Stages stages_;
  std::vector<std::int64_t> rows_;
  std::int64_t pairs_ = 0, axes_ = 1;
  Layout layout_ = Layout::half;
};

}  // namespace

std::unique_ptr<Subject> make_tensor_file_subject(const SubjectSpec& spec) {
  return std::make_unique<TensorFileSubject>(spec);
}

}  // namespace ropewalk
