#include "harness/tensors/axes.hpp"

#include <algorithm>

namespace ropewalk {
namespace {

// Bytes from one index along the axis to the next.
std::size_t step_of(const Tensor& x, std::size_t axis) {
  std::size_t bytes = bytes_of(x.dtype());
  for (std::size_t i = axis + 1; i < x.shape().size(); ++i) bytes *= static_cast<std::size_t>(x.shape()[i]);
  return bytes;
}

}  // namespace

Tensor slice_along(const Tensor& x, std::size_t axis, std::int64_t first, std::int64_t count) {
  Shape shape = x.shape();
  const std::size_t step = step_of(x, axis), whole = step * static_cast<std::size_t>(shape[axis]),
                    part = step * static_cast<std::size_t>(count);
  shape[axis] = count;
  Tensor out(x.dtype(), shape);
  const auto from = x.bytes();
  auto to = out.bytes().begin();
  for (std::size_t at = step * static_cast<std::size_t>(first); at + part <= from.size() && part > 0; at += whole)
    to = std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), part, to);
  return out;
}

Tensor concat_along(const std::vector<Tensor>& parts, std::size_t axis) {
  Shape shape = parts.front().shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) shape[axis] += part.shape()[axis];
  Tensor out(parts.front().dtype(), shape);
  const std::size_t step = step_of(out, axis), whole = step * static_cast<std::size_t>(shape[axis]);
  std::size_t start = 0;
  for (const Tensor& part : parts) {
    const auto from = part.bytes();
    const std::size_t bytes = step * static_cast<std::size_t>(part.shape()[axis]);
    for (std::size_t at = 0, to = start; at < from.size(); at += bytes, to += whole)
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), bytes,
                  out.bytes().begin() + static_cast<std::ptrdiff_t>(to));
    start += bytes;
  }
  return out;
}

}  // namespace ropewalk
