#include "harness/checks/truth.hpp"

#include <algorithm>

#include "harness/cases/exact_rope.hpp"

namespace ropewalk {

using reference::Frequencies;
using reference::Proof;
using reference::SinCos;
using reference::Table;

Truth::Truth(const Rope& rope, const Positions& positions) : all_(positions), exact_(table_of(rope)) {}

void Truth::start_call(const Rope& rope, const Positions& positions) {
  all_ = positions;
  exact_ = table_of(rope);
  e1_.clear();
}

void Truth::start_block(std::int64_t first, std::int64_t count) {
  block_.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) block_[i] = all_.at(first + i);
  e0_.reset();
  e2_.clear();
  for (Stored& stored : e1_) stored.values.reset();
}

Proof Truth::fill(const Table& table, SinCos& out) const {
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
