#include "harness/checks/truth.hpp"

#include <algorithm>

#include "harness/cases/exact_rope.hpp"
#include "reference/axes.hpp"

namespace ropewalk {

using reference::Frequencies;
using reference::Proof;
using reference::SinCos;
using reference::Table;

Truth::Truth(const Rope& rope, const Positions& positions)
    : all_(positions),
      exact_(table_of(rope)),
      axes_(rope.axes()),
      axis_of_pairs_(ropewalk::axis_of_pairs(rope)),
      of_pairs_(axis_of_pairs_.size()) {
  block_of_axis_.resize(static_cast<std::size_t>(axes_ == 1 ? 0 : axes_));
}

void Truth::start_call(const Rope& rope, const Positions& positions) {
  all_ = positions;
  exact_ = table_of(rope);
  e1_.clear();
}

void Truth::start_block(std::int64_t first, std::int64_t count) {
  block_.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) block_[i] = all_.at(first + i);
  for (std::int64_t axis = 0; axis < std::ssize(block_of_axis_); ++axis) {
    auto& of_axis = block_of_axis_[static_cast<std::size_t>(axis)];
    of_axis.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) of_axis[i] = all_.at(first + i, axis);
    for (std::int64_t i = 0; i < count; ++i) block_[i] = std::max(block_[i], of_axis[i]);
  }
  e0_.reset();
  e2_.clear();
  for (Stored& stored : e1_) stored.values.reset();
}

std::span<const double> Truth::positions_of_pairs(std::size_t row) {
  if (axes_ == 1)
    std::fill(of_pairs_.begin(), of_pairs_.end(), static_cast<double>(block_[row]));
  else
    for (std::size_t j = 0; j < of_pairs_.size(); ++j)
      of_pairs_[j] = static_cast<double>(position_on(axis_of_pairs_[j], row));
  return of_pairs_;
}

Proof Truth::fill(const Table& table, SinCos& out) const {
  if (!all_.axes.empty()) {
    std::vector<reference::Column> columns;
    for (const int axis : axis_of_pairs_) columns.push_back({axis, static_cast<int>(columns.size())});
    return reference::axis_rows(table, block_of_axis_, columns, out);
  }
  const bool dense = all_.list.empty();
  return dense ? table.dense(block_.front(), static_cast<std::int64_t>(block_.size()), out) : table.sparse(block_, out);
}

const SinCos& Truth::of_exact() {
  if (!e0_) {
    const Stopwatch watch(seconds_);
    proof_ += fill(exact_, e0_.emplace());
  }
  return *e0_;
}

const SinCos& Truth::of_frequencies(const Tensor& inv_freq) {
  const Stopwatch watch(seconds_);
  auto known = std::find_if(e1_.begin(), e1_.end(), [&](const Stored& s) { return same_bits(s.input, inv_freq); });
  if (known == e1_.end()) {
    e1_.push_back({inv_freq, Table(Frequencies::given(to_doubles(inv_freq)), amplitude()), {}});
    known = std::prev(e1_.end());
  }
  if (!known->values) proof_ += fill(known->table, known->values.emplace());
  return *known->values;
}

const SinCos& Truth::of_angles(const Tensor& angle) {
  const Stopwatch watch(seconds_);
  for (const Known& known : e2_)
    if (same_bits(known.input, angle)) return known.values;
  Known& fresh = e2_.emplace_back(Known{angle, {}});
  proof_ += reference::sin_cos_of_angles(to_doubles(angle), angle.shape()[0], static_cast<int>(angle.shape()[1]),
                                         fresh.values, reference::kRoundingTestError, amplitude());
  return fresh.values;
}

}  // namespace ropewalk
