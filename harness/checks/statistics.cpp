#include "harness/checks/statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/clones.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t kPairBands = 16;

struct RowSums {
  double sum = 0, sum_signed = 0, max_abs = 0, max_ulp = 0;
};

ROPEWALK_CLONES RowSums reduce(const double* difference, const double* ulps, std::size_t n, double* by_pair) {
  double sum = 0, sum_signed = 0, max_abs = 0, max_ulp = 0;
#pragma omp simd reduction(+ : sum, sum_signed) reduction(max : max_abs, max_ulp)
  for (std::size_t j = 0; j < n; ++j) {
    const double size = std::fabs(difference[j]);
    sum += size;
    sum_signed += difference[j];
    max_abs = size > max_abs ? size : max_abs;
    max_ulp = ulps[j] > max_ulp ? ulps[j] : max_ulp;
    by_pair[j] = size > by_pair[j] ? size : by_pair[j];
  }
  return {sum, sum_signed, max_abs, max_ulp};
}

}  // namespace

void Statistics::place(double size) { ++bins_[std::bit_cast<std::uint64_t>(size) >> 49]; }

void Statistics::add(std::int64_t position, std::span<const double> difference, std::span<const double> ulps) {
  if (bins_.empty()) bins_.assign(kBins, 0);
  if (by_pair_.size() < difference.size()) by_pair_.resize(difference.size(), 0);
  const RowSums row = reduce(difference.data(), ulps.data(), difference.size(), by_pair_.data());
  compared_ += static_cast<std::int64_t>(difference.size());
  sum_ += row.sum;
  sum_signed_ += row.sum_signed;
  max_abs_ = std::max(max_abs_, row.max_abs);
  max_ulp_ = std::max(max_ulp_, row.max_ulp);
  double& octave = by_octave_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(position)))];
  octave = std::max(octave, row.max_abs);
  largest_position_ = std::max(largest_position_, position);
  for (const double d : difference) place(std::fabs(d));
}

Measured Statistics::result() const {
  Measured m;
  m.compared = compared_ + identical_;
  m.max_abs = max_abs_;
  m.max_ulp = max_ulp_;
  if (m.compared == 0) return m;
  m.mean_abs = sum_ / static_cast<double>(m.compared);
  m.mean_signed = sum_signed_ / static_cast<double>(m.compared);

  // Upper edge of the bin in which the 99th percentile falls.
  const auto target = static_cast<std::int64_t>(std::ceil(0.99 * static_cast<double>(m.compared)));
  std::int64_t below = identical_;
  for (std::size_t bin = 0; bin < bins_.size() && below < target; ++bin) {
    below += static_cast<std::int64_t>(bins_[bin]);
    if (below >= target && bin > 0)
      m.p99_abs = std::min(max_abs_, std::bit_cast<double>((std::uint64_t{bin} + 1) << 49));
  }
  if (compared_ == 0) return m;
  const auto octaves = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(largest_position_)));
  for (std::size_t o = 0; o <= octaves; ++o) {
    const std::int64_t first = o == 0 ? 0 : std::int64_t{1} << (o - 1);
    m.by_position.push_back({first, std::min(largest_position_, first == 0 ? 0 : 2 * first - 1), by_octave_[o]});
  }
  const std::size_t pairs = by_pair_.size(), step = (pairs + kPairBands - 1) / kPairBands;
  for (std::size_t j = 0; j < pairs; j += step) {
    const std::size_t end = std::min(pairs, j + step);
    const auto from = by_pair_.begin() + static_cast<std::ptrdiff_t>(j);
    const auto to = by_pair_.begin() + static_cast<std::ptrdiff_t>(end);
    m.by_pair.push_back(
        {static_cast<std::int64_t>(j), static_cast<std::int64_t>(end) - 1, *std::max_element(from, to)});
  }
  return m;
}

}  // namespace ropewalk
