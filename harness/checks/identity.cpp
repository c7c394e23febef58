#include "harness/checks/identity.hpp"

#include <algorithm>
#include <cmath>

namespace ropewalk {
namespace {

double size_of_error(double got, double exact) {
  const double size = std::fabs(got - exact);
  return std::isnan(size) ? HUGE_VAL : size;
}

// Exact values of one row of a stage, for measuring which of two subjects is closer.
std::vector<double> exact_row(const std::string& stage, std::size_t row, Truth& truth) {
  const auto& frequencies = truth.frequencies();
  const auto pairs = static_cast<std::size_t>(frequencies.size());
  if (stage == "positions") {
    std::vector<double> of_axes;
    for (std::int64_t axis = 0; axis < truth.axes(); ++axis)
      of_axes.push_back(static_cast<double>(truth.position_on(axis, row)));
    return of_axes;
  }
  if (stage == "cos" || stage == "sin") {
    const auto& table = truth.of_exact();
    const auto& values = stage == "cos" ? table.cos : table.sin;
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(row * pairs);
    return {from, from + static_cast<std::ptrdiff_t>(pairs)};
  }
  std::vector<double> values(pairs);
  const auto of_pairs = truth.positions_of_pairs(row);
  for (std::size_t j = 0; j < pairs; ++j)
    values[j] = frequencies.head(static_cast<int>(j)) * (stage == "angle" ? of_pairs[j] : 1);
  return values;
}

const Tensor& stage_of(const Stages& stages, const std::string& stage) {
  const auto found = stages.find(stage);
  if (found == stages.end()) throw SubjectError("does not deliver the stage " + stage);
  return found->second;
}

}  // namespace

void IdentityCheck::add(const Stages& a, const Stages& b, Truth& truth, bool first_block) {
  const auto positions = truth.positions();
  const std::int64_t at = rows_;  // of the block's first row
  rows_ += static_cast<std::int64_t>(positions.size());
  if (stage_ == "inv_freq" && !first_block) return;
  const Tensor& x = stage_of(a, stage_);
  const Tensor& y = stage_of(b, stage_);
  dtypes_ = std::string(name_of(x.dtype()));
  if (x.shape() != y.shape()) {
    shape_reason_ = "the shapes differ";
    return;
  }
  if (x.dtype() != y.dtype()) {
    dtypes_ += " and " + std::string(name_of(y.dtype()));
    shape_reason_ = "the dtypes differ: " + dtypes_;
  }
  for (const std::int64_t p : positions) only_position_zero_ = only_position_zero_ && p == 0 && stage_ != "inv_freq";
  const std::size_t rows = stage_ == "inv_freq" ? 1 : positions.size();
  const auto columns = static_cast<std::size_t>(x.size()) / rows;
  a_ = to_doubles(x);
  look_at(a_, 0);
  if (same_bits(x, y)) {
    look_at(a_, 1);
    statistics_.add_identical(x.size());
    return;
  }
  b_ = to_doubles(y);
  look_at(b_, 1);
  format_ = is_floating(x.dtype()) ? format_of(x.dtype()) : reference::Format::float64;
  for (std::size_t r = 0; r < rows; ++r) {
    const bool of_rows = stage_ != "inv_freq" && stage_ != "positions";
    const Place place{stage_ == "inv_freq" ? 0 : positions[r], at + static_cast<std::int64_t>(r),
                      of_rows ? truth.positions_of_pairs(r) : std::span<const double>()};
    row(&a_[r * columns], &b_[r * columns], columns, place, exact_row(stage_, r, truth).data());
  }
}

void IdentityCheck::look_at(std::span<const double> values, std::size_t side) {
  for (const double v : values) {
    all_zero_ = all_zero_ && v == 0;
    nan_[side] += std::isnan(v);
    inf_[side] += std::isinf(v);
  }
}

void IdentityCheck::row(const double* a, const double* b, std::size_t n, Place place, const double* exact) {
  difference_.resize(n);
  ulps_.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    const bool same = a[j] == b[j] && std::signbit(a[j]) == std::signbit(b[j]);
    mismatched_ += !same;
    const double d = same ? 0 : a[j] - b[j];
    difference_[j] = std::isfinite(d) ? d : HUGE_VAL;
    ulps_[j] = std::fabs(difference_[j]) / reference::ulp(b[j], format_);
    if (same) continue;
    closest_[0] = std::max(closest_[0], size_of_error(a[j], exact[j]));
    closest_[1] = std::max(closest_[1], size_of_error(b[j], exact[j]));
    if (mismatched_ == 1 || std::fabs(difference_[j]) > std::fabs(worst_.got - worst_.expected))
      worst_ = {place.of_pairs.empty() ? place.position : static_cast<std::int64_t>(place.of_pairs[j]),
                static_cast<std::int64_t>(j), place.row, a[j], b[j]};
  }
  statistics_.add(place.position, difference_, ulps_);
}

void IdentityCheck::conclude(Result& result) const {
  result.measured = statistics_.result();
  result.measured.mismatched = mismatched_;
  std::copy(nan_, nan_ + 2, result.measured.nan);
  std::copy(inf_, inf_ + 2, result.measured.inf);
  result.stage_dtype = dtypes_;
  result.local_limit = Limit{0, "bits", "bit identity", "the case"};
  const bool not_a_number = nan_[0] + nan_[1] > 0;
  result.verdict = differs() || not_a_number ? Verdict::fail : Verdict::pass;
  if (!shape_reason_.empty()) result.reason = shape_reason_;
  if (not_a_number) result.reason = "NaN, which equals nothing";
  if (mismatched_ > 0) {
    result.worst = worst_;
    const std::size_t near = closest_[0] <= closest_[1] ? 0 : 1;
    result.closer =
        Closer{closest_[0] == closest_[1] ? "neither" : result.subjects.at(near).name, {closest_[0], closest_[1]}};
  }
  if (result.verdict != Verdict::pass) return;
  if (all_zero_ && stage_ != "positions") {
    result.verdict = Verdict::untrusted;
    result.reason = "all zeros on both sides";
  } else if (only_position_zero_) {
    result.verdict = Verdict::untrusted;
    result.reason = "only position 0: every implementation gives the same there";
  }
}

}  // namespace ropewalk
