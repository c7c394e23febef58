// The sizes that are measured; the same for every method.
#pragma once

#include <cstdint>
#include <vector>

namespace ropewalk::bench {

struct Size {
  double base;
  int dim;
  std::int64_t positions;
  std::int64_t pairs() const { return positions * (dim / 2); }
};

// A long context.
constexpr Size kLong = {10000, 128, 131072};

// The cells of cases/seed.json, as far as sizes go.
inline std::vector<Size> grid() {
  std::vector<Size> cells;
  for (const int dim : {64, 256, 1024}) {
    for (const std::int64_t positions : {1024, 2048, 4096}) {
      for (const double base : {1e4, 1e5, 1e6}) cells.push_back({base, dim, positions});
    }
  }
  return cells;
}

inline std::int64_t pairs_of(const std::vector<Size>& cells) {
  std::int64_t pairs = 0;
  for (const Size& cell : cells) pairs += cell.pairs();
  return pairs;
}

// Positions of kLong for methods that are too slow for all of them.
constexpr std::int64_t kSampleStep = 2048;

}  // namespace ropewalk::bench
