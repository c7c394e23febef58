// Rows of vectors in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ropewalk {

// Key heads at all query heads: each block (a vector) so many times, one after the other.
template <class T>
std::vector<T> each_block_repeated(std::span<const T> values, std::size_t block, std::size_t times) {
  std::vector<T> out;
  out.reserve(values.size() * times);
  for (std::size_t at = 0; at < values.size(); at += block) {
    const auto vector = values.subspan(at, block);
    for (std::size_t i = 0; i < times; ++i) out.insert(out.end(), vector.begin(), vector.end());
  }
  return out;
}

}  // namespace ropewalk
