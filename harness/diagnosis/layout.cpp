#include "harness/diagnosis/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "harness/bad_input.hpp"
#include "harness/subjects/table_stages.hpp"

namespace ropewalk {
namespace {

using Axes = std::vector<std::size_t>;

std::int64_t stride_of(const Shape& shape, std::size_t axis) {
  std::int64_t stride = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) stride *= shape[a];
  return stride;
}

// Whether some entry along this axis has other bits than the first.
bool varies(const Tensor& tensor, std::size_t axis) {
  const std::int64_t inner = stride_of(tensor.shape(), axis) * static_cast<std::int64_t>(bytes_of(tensor.dtype()));
  const std::int64_t n = tensor.shape()[axis];
  const auto bytes = tensor.bytes();
  const auto blocks = static_cast<std::int64_t>(bytes.size()) / inner;
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first = block / n * n;
    if (std::memcmp(bytes.data() + block * inner, bytes.data() + first * inner, static_cast<std::size_t>(inner)) != 0)
      return true;
  }
  return false;
}

Axes axes_longer_than_one(const Shape& shape, std::size_t without) {
  Axes axes;
  for (std::size_t a = 0; a < shape.size(); ++a)
    if (a != without && shape[a] > 1) axes.push_back(a);
  return axes;
}

std::int64_t product(const Shape& shape, const Axes& axes) {
  std::int64_t count = 1;
  for (const std::size_t a : axes) count *= shape[a];
  return count;
}

// Axes in their order become the rows, the width axis the columns; of the others the first entry counts.
Tensor gathered(const Tensor& tensor, const Axes& row_axes, std::size_t width_axis) {
  const Shape& shape = tensor.shape();
  const std::int64_t rows = product(shape, row_axes), columns = shape[width_axis];
  if (rows * columns == tensor.size() && width_axis + 1 == shape.size()) return tensor.reshaped({rows, columns});
  const auto bytes = static_cast<std::int64_t>(bytes_of(tensor.dtype()));
  const std::int64_t step = stride_of(shape, width_axis);
  Tensor out(tensor.dtype(), {rows, columns});
  std::byte* to = out.bytes().data();
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row, from = 0;
    for (auto axis = row_axes.rbegin(); axis != row_axes.rend(); ++axis) {
      from += rest % shape[*axis] * stride_of(shape, *axis);
      rest /= shape[*axis];
    }
    for (std::int64_t column = 0; column < columns; ++column)
      to = std::copy_n(tensor.bytes().data() + (from + column * step) * bytes, bytes, to);
  }
  return out;
}

void refuse_empty(const std::string& file, const std::string& field, const Tensor& tensor) {
  if (tensor.size() == 0 || tensor.shape().empty())
    throw BadInput(file, field, "shape " + shape_text(tensor.shape()), "empty; values are needed");
}

// The axis of one of these sizes; the last where several fit.
std::size_t find_width(const std::string& file, const std::string& field, const Shape& shape,
                       const std::vector<std::int64_t>& widths) {
  for (std::size_t a = shape.size(); a-- > 0;)
    if (widths.empty() || std::find(widths.begin(), widths.end(), shape[a]) != widths.end()) return a;
  throw BadInput(file, field, "shape " + shape_text(shape),
                 fmt::format("an axis of {} columns is needed", fmt::join(widths, " or ")));
}

Axes find_rows(const std::string& file, const std::string& field, const Tensor& tensor, std::size_t width,
               std::int64_t rows) {
  const Shape& shape = tensor.shape();
  Axes longer = axes_longer_than_one(shape, width);
  const auto refuse = [&](const std::string& accepted) {
    throw BadInput(file, field, "shape " + shape_text(shape), accepted);
  };
  if (rows > 1) {
    for (std::size_t i = longer.size(); i-- > 0;)
      if (shape[longer[i]] == rows) return {longer[i]};
    if (product(shape, longer) != rows) refuse(fmt::format("an axis of {} positions is needed", rows));
    return longer;
  }
  Axes changing;
  for (const std::size_t a : longer)
    if (varies(tensor, a)) changing.push_back(a);
  if (changing.size() > 1) refuse("values change along several axes beside the columns; positions [rows] say which");
  if (changing.empty() && rows == 0 && !longer.empty())
    return {*std::max_element(longer.begin(), longer.end(), [&](auto a, auto b) { return shape[a] < shape[b]; })};
  if (rows == 1 && !changing.empty()) refuse("one row is needed, for one position");
  return changing;
}

}  // namespace

bool has_rows(const Tensor& tensor, std::int64_t rows) {
  const Shape& shape = tensor.shape();
  if (shape.empty()) return false;
  if (rows == 1 || std::find(shape.begin(), shape.end(), rows) != shape.end()) return true;
  for (std::size_t width = 0; width < shape.size(); ++width)
    if (product(shape, axes_longer_than_one(shape, width)) == rows) return true;
  return false;
}

Arranged as_matrix(const std::string& file, const std::string& field, const Tensor& tensor,
                   const std::vector<std::int64_t>& widths, std::int64_t rows) {
  refuse_empty(file, field, tensor);
  const Shape& shape = tensor.shape();
  const std::size_t width = find_width(file, field, shape, widths);
  const Axes row_axes = find_rows(file, field, tensor, width, rows);
  std::string how = shape_text(shape);
  if (shape.size() > 2 || width + 1 != shape.size())
    how += row_axes.empty() ? ", one position" : fmt::format(", positions along axis {}", fmt::join(row_axes, " and "));
  if (width + 1 != shape.size()) how += fmt::format(", columns along axis {}", width);
  for (const std::size_t a : axes_longer_than_one(shape, width)) {
    if (std::find(row_axes.begin(), row_axes.end(), a) != row_axes.end()) continue;
    if (varies(tensor, a))
      throw BadInput(file, field, "shape " + shape_text(shape),
                     fmt::format("axis {} holds different values; one table for all is needed", a));
    how += fmt::format(", {} times the same along axis {}", shape[a], a);
  }
  return {gathered(tensor, row_axes, width), how};
}

Arranged as_vector(const std::string& file, const std::string& field, const Tensor& tensor) {
  refuse_empty(file, field, tensor);
  const Shape& shape = tensor.shape();
  Axes changing;
  for (std::size_t a = 0; a < shape.size(); ++a)
    if (shape[a] > 1 && varies(tensor, a)) changing.push_back(a);
  if (changing.size() > 1)
    throw BadInput(file, field, "shape " + shape_text(shape), "values change along several axes; one axis is needed");
  std::size_t axis = shape.size() - 1;
  if (!changing.empty())
    axis = changing[0];
  else
    axis = static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
  return {gathered(tensor, {}, axis).reshaped({shape[axis]}), shape_text(shape)};
}

Paired as_pairs(const Tensor& matrix, std::int64_t pairs) {
  const std::int64_t rows = matrix.shape()[0], width = matrix.shape()[1];
  const auto bytes = static_cast<std::int64_t>(bytes_of(matrix.dtype()));
  Paired as_it_is{matrix, "half width", 0, 0, 0};
  if (width == pairs || width % 2 != 0) return as_it_is;
  const std::int64_t half = width / 2;
  const auto unequal_in = [&](std::int64_t copy_step, std::int64_t pair_step, Paired& found) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::byte* row = matrix.bytes().data() + r * width * bytes;
      for (std::int64_t j = 0; j < half; ++j) {
        const std::byte* value = row + j * pair_step * bytes;
        if (std::memcmp(value, value + copy_step * bytes, static_cast<std::size_t>(bytes)) == 0) continue;
        if (found.unequal++ == 0) found.row = r, found.column = j * pair_step + copy_step;
      }
    }
  };
  Paired doubled{{}, "doubled", 0, 0, 0}, interleaved{{}, "interleaved", 0, 0, 0};
  unequal_in(half, 1, doubled);
  unequal_in(1, 2, interleaved);
  Paired& best = interleaved.unequal < doubled.unequal ? interleaved : doubled;
  if (pairs == 0 && best.unequal > 0) return as_it_is;
  const std::int64_t step = &best == &interleaved ? 2 : 1;
  best.values = Tensor(matrix.dtype(), {rows, half});
  std::byte* to = best.values.bytes().data();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < half; ++j)
      to = std::copy_n(matrix.bytes().data() + (r * width + j * step) * bytes, bytes, to);
  return best;
}

std::pair<Tensor, Tensor> split_cos_sin(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.size() < 2 || shape.back() % 2 != 0) return {};
  const bool stacked = shape.back() == 2;
  const std::int64_t half = shape.back() / 2;
  Shape out_shape(shape.begin(), shape.end() - (stacked ? 1 : 0));
  if (!stacked) out_shape.back() = half;
  Tensor out[2] = {Tensor(tensor.dtype(), out_shape), Tensor(tensor.dtype(), out_shape)};
  const auto block = half * static_cast<std::int64_t>(bytes_of(tensor.dtype()));
  const std::byte* from = tensor.bytes().data();
  std::byte* to[2] = {out[0].bytes().data(), out[1].bytes().data()};
  for (std::int64_t i = 0; block > 0 && i < tensor.size() / half; ++i, from += block)
    to[i % 2] = std::copy_n(from, block, to[i % 2]);
  return {out[0], out[1]};
}

}  // namespace ropewalk
