// Files that are made or proved side by side.
#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <cstddef>

namespace ropewalk {

// work(0) .. work(count-1), at most `jobs` at a time; the first exception ends it.
template <class Work>
void side_by_side(std::size_t count, int jobs, const Work& work) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(jobs));
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, count, 1),
      [&](const auto& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) work(i);
      },
      tbb::simple_partitioner());
}

}  // namespace ropewalk
