#include "harness/diagnosis/explain_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/cases/exact_rope.hpp"
#include "harness/checks/limits.hpp"
#include "harness/diagnosis/judge.hpp"

namespace ropewalk {
namespace {

using reference::Frequencies;
using reference::SinCos;
using reference::Table;

constexpr std::int64_t kBlockElements = 32768;  // rows * pairs at a time
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Frequencies frequencies_of(const Hypothesis& hypothesis, Rope rope) {
  rope.base = hypothesis.base;
  if (hypothesis.unscaled) rope.scaling = {};
  Frequencies exact = ropewalk::frequencies_of(rope);
  if (hypothesis.scale == 1) return exact;
  std::vector<double> scaled;
  scaled.reserve(static_cast<std::size_t>(exact.size()));
  for (int j = 0; j < exact.size(); ++j) scaled.push_back(exact.head(j) * hypothesis.scale);
  return Frequencies::given(scaled);
}

TrigBudget with_amplitude(TrigBudget budget, double amplitude) {
  if (amplitude == 1 || budget.relative > 0) return budget;  // the claim has one of its own, and this counted
  budget.function_ulp *= 2;                                  // ulp(v) times the amplitude is at most 2 ulp(amplitude v)
  budget.relative = compose(budget.relative, 2 * reference::unit_roundoff(budget.function_format));
  return budget;
}

// One row of cosines or of sines against its exact values.
class RowTest {
 public:
  RowTest(const Hypothesis& hypothesis, const TrigBudget& budget, std::vector<double> angle_limit)
      : hypothesis_(hypothesis),
        budget_(with_amplitude(budget, hypothesis.amplitude)),
        angle_limit_(std::move(angle_limit)),
        exact_(angle_limit_.size()),
        limit_(angle_limit_.size()) {}

  void compare(const double* got, const double* of_pair, double sign, std::int64_t position, Explained& worst) {
    const std::size_t n = exact_.size();
    for (std::size_t j = 0; j < n; ++j) exact_[j] = sign * hypothesis_.amplitude * of_pair[hypothesis_.pair_of[j]];
    trig_limits(budget_, exact_, limit_);
    for (std::size_t j = 0; j < n; ++j) {
      const double limit = limit_[j] + static_cast<double>(position) * angle_limit_[j];
      const double error = std::fabs(got[j] - exact_[j]);
      const double share = std::isfinite(error) ? error / limit : kInfinity;
      if (share > worst.share)
        worst.share = share, worst.error = error, worst.limit = limit, worst.position = position,
        worst.pair = static_cast<std::int64_t>(j);
    }
  }

 private:
  const Hypothesis& hypothesis_;
  TrigBudget budget_;
  std::vector<double> angle_limit_;  // of each column, for one position
  std::vector<double> exact_, limit_;
};

}  // namespace

Explained test_hypothesis(const Hypothesis& hypothesis, const Case& problem, const Stages& stages,
                          const std::string& claims) {
  Explained out;
  out.hypothesis = hypothesis;
  Case changed = problem;
  changed.rope.base = hypothesis.base;
  const Budget budget = budget_for(claims, changed);
  const Table table(frequencies_of(hypothesis, problem.rope));
  const auto pairs = static_cast<std::size_t>(table.pairs());
  std::vector<double> angle_limit(pairs);
  const double of_scale = hypothesis.scale == 1 ? 0 : 2 * reference::unit_roundoff(reference::Format::float32);
  for (std::size_t j = 0; j < pairs; ++j) {
    const std::size_t pair = hypothesis.pair_of[j];
    const double relative = compose(compose(budget.inv_freq_relative[pair], of_scale), budget.angle_relative[pair]);
    angle_limit[j] = std::fabs(hypothesis.amplitude) * table.frequencies().head(static_cast<int>(pair)) * relative;
  }
  RowTest cosines(hypothesis, hypothesis.swapped ? budget.sin : budget.cos, angle_limit);
  RowTest sines(hypothesis, hypothesis.swapped ? budget.cos : budget.sin, angle_limit);
  const double sign = hypothesis.negated ? -1 : 1;

  const auto rows = static_cast<std::int64_t>(hypothesis.positions.size());
  const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / static_cast<std::int64_t>(pairs));
  SinCos exact;
  for (std::int64_t first = 0; first < rows && out.share < kInfinity; first += step) {
    const std::int64_t count = std::min(step, rows - first);
    const std::span<const std::int64_t> positions(&hypothesis.positions[static_cast<std::size_t>(first)],
                                                  static_cast<std::size_t>(count));
    table.sparse(positions, exact);
    const auto c = to_doubles(stages.at("cos").rows(first, count)), s = to_doubles(stages.at("sin").rows(first, count));
    for (std::size_t r = 0; r < positions.size(); ++r) {
      const double* const of_cos = &(hypothesis.swapped ? exact.sin : exact.cos)[r * pairs];
      const double* const of_sin = &(hypothesis.swapped ? exact.cos : exact.sin)[r * pairs];
      cosines.compare(&c[r * pairs], of_cos, 1, positions[r], out);
      sines.compare(&s[r * pairs], of_sin, sign, positions[r], out);
    }
  }
  return out;
}

}  // namespace ropewalk
