#include "harness/checks/sequences.hpp"

#include "harness/tensors/blocks.hpp"

namespace ropewalk {

using reference::Enclosures;
using reference::Reals;

std::vector<double> values_at_all_heads(const std::vector<double>& values, const Case& problem, std::size_t batch) {
  const AttentionSizes n = sizes_of(problem);
  const auto each = static_cast<std::size_t>(n.keys * problem.attention->kv_heads * n.dim);
  return each_block_repeated(std::span(values).subspan(batch * each, each), static_cast<std::size_t>(n.dim),
                             static_cast<std::size_t>(n.heads / problem.attention->kv_heads));
}

void append(Enclosures& all, const Enclosures& part) {
  all.head.insert(all.head.end(), part.head.begin(), part.head.end());
  all.tail.insert(all.tail.end(), part.tail.begin(), part.tail.end());
  all.bound.insert(all.bound.end(), part.bound.begin(), part.bound.end());
}

Reals part_of(const Enclosures& all, std::size_t batch, std::size_t size) {
  Reals out;
  out.head = std::span(all.head).subspan(batch * size, size);
  out.tail = std::span(all.tail).subspan(batch * size, size);
  out.bound = std::span(all.bound).subspan(batch * size, size);
  return out;
}

}  // namespace ropewalk
