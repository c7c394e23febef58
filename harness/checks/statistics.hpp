// Sizes of differences, gathered row by row in one pass: nothing of the size of the table is kept.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/report/result.hpp"

namespace ropewalk {

class Statistics {
 public:
  // One row of the table: signed differences, their sizes in ulp, at this position.
  void add(std::int64_t position, std::span<const double> difference, std::span<const double> ulps);
  void add_identical(std::int64_t count) { identical_ += count; }
  Measured result() const;

 private:
  void place(double size);

  // Sizes fall into bins of 1/8 octave for the 99th percentile: the top 14 bits of the double, sign left out.
  static constexpr std::size_t kBins = std::size_t{1} << 14;
  std::int64_t compared_ = 0, identical_ = 0;
  double sum_ = 0, sum_signed_ = 0, max_abs_ = 0, max_ulp_ = 0;
  std::vector<std::uint64_t> bins_;
  std::array<double, 64> by_octave_{};  // of the position
  std::int64_t largest_position_ = 0;
  std::vector<double> by_pair_;
};

}  // namespace ropewalk
