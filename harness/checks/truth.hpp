// The reference's values for the block of rows at hand, made when they are asked for and shared by all subjects.
#pragma once

#include <chrono>
#include <list>
#include <optional>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/subjects/subject.hpp"
#include "reference/table.hpp"

namespace ropewalk {

// Adds the time that it lives to a sum of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Truth {
 public:
  Truth(const Rope& rope, const Positions& positions);
  void start_call(const Rope& rope, const Positions& positions);  // of a state: another length, other rows
  void start_block(std::int64_t first, std::int64_t count);

  // Of each row; of several axes the largest.
  std::span<const std::int64_t> positions() const { return block_; }
  std::int64_t axes() const { return axes_; }
  std::int64_t position_on(std::int64_t axis, std::size_t row) const {
    return axes_ == 1 ? block_[row] : block_of_axis_[static_cast<std::size_t>(axis)][row];
  }
  // The axis that each pair turns by, and its positions in a row; the latter last until the next call.
  std::span<const int> axis_of_pairs() const { return axis_of_pairs_; }
  std::span<const double> positions_of_pairs(std::size_t row);
  const reference::Frequencies& frequencies() const { return exact_.frequencies(); }
  // Of the cosines and sines at all levels.
  const reference::Amplitude& amplitude() const { return exact_.amplitude(); }
  // Level E0: of the exact angle.
  const reference::SinCos& of_exact();
  // Level E1: of the exact position times the observed frequencies.
  const reference::SinCos& of_frequencies(const Tensor& inv_freq);
  // Level E2: of the observed angles [rows, pairs].
  const reference::SinCos& of_angles(const Tensor& angle);

  const reference::Proof& proof() const { return proof_; }
  double seconds() const { return seconds_; }

 private:
  struct Known {
    Tensor input;
    reference::SinCos values;
  };
  struct Stored {
    Tensor input;
    reference::Table table;
    std::optional<reference::SinCos> values;
  };
  reference::Proof fill(const reference::Table& table, reference::SinCos& out) const;

  Positions all_;
  reference::Table exact_;
  std::int64_t axes_;
  std::vector<int> axis_of_pairs_;
  std::vector<std::int64_t> block_;
  std::vector<std::vector<std::int64_t>> block_of_axis_;  // of several
  std::vector<double> of_pairs_;
  std::optional<reference::SinCos> e0_;
  std::list<Stored> e1_;
  std::list<Known> e2_;
  reference::Proof proof_;
  double seconds_ = 0;
};

}  // namespace ropewalk
