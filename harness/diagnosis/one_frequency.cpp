#include "harness/diagnosis/one_frequency.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "harness/cases/exact_rope.hpp"
#include "harness/checks/limits.hpp"
#include "harness/diagnosis/rows.hpp"
#include "reference/table.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::Frequencies;
using reference::SinCos;

constexpr std::int64_t kBlockRows = 1024;
constexpr int kMostCandidates = 4096;  // on each side of theta_j; no claim in fp32 comes near it

// One pair: its cosines and sines in the order in which rows are looked at, the telling ones first.
struct Column {
  std::vector<double> cos, sin;
};

bool within(const TrigBudget& budget, std::span<const double> exact, const double* got) {
  thread_local std::vector<double> limit;
  limit.resize(exact.size());
  trig_limits(budget, exact, limit);
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (!(std::fabs(got[i] - exact[i]) <= limit[i])) return false;
  return true;
}

class Test {
 public:
  Test(const Budget& budget, double amplitude, std::vector<std::int64_t> positions, std::size_t first_look)
      : budget_(budget), amplitude_(amplitude), positions_(std::move(positions)), first_look_(first_look) {}

  // Whether every row is the function of angle(position); the telling rows go first, as most candidates are wrong.
  template <class Fill>
  bool explains(const Column& column, Fill fill) {
    std::size_t done = 0;
    while (done < positions_.size()) {
      const std::size_t left = positions_.size() - done;
      const std::size_t count = std::min<std::size_t>(left, done == 0 ? first_look_ : kBlockRows);
      fill(std::span<const std::int64_t>(&positions_[done], count), exact_);
      for (std::size_t i = 0; i < count; ++i) {
        exact_.cos[i] *= amplitude_;
        exact_.sin[i] *= amplitude_;
      }
      const bool cos_right = column.cos.empty() || within(budget_.cos, {exact_.cos.data(), count}, &column.cos[done]);
      const bool sin_right = column.sin.empty() || within(budget_.sin, {exact_.sin.data(), count}, &column.sin[done]);
      if (!cos_right || !sin_right) return false;
      done += count;
    }
    return true;
  }

 private:
  const Budget& budget_;
  double amplitude_;
  std::vector<std::int64_t> positions_;
  std::size_t first_look_;
  SinCos exact_;
};

void of_rounded_product(float frequency, std::span<const std::int64_t> positions, SinCos& out) {
  std::vector<double> angles;
  angles.reserve(positions.size());
  for (const std::int64_t p : positions) angles.push_back(static_cast<float>(p) * frequency);
  reference::sin_cos_of_angles(angles, static_cast<std::int64_t>(angles.size()), 1, out);
}

}  // namespace

OneFrequency one_frequency(const Case& problem, const Stages& stages, const Budget& budget) {
  OneFrequency out;
  const auto cos = stages.find("cos"), sin = stages.find("sin");
  const double u = reference::unit_roundoff(Format::float32);
  const bool one_product = std::all_of(budget.angle_relative.begin(), budget.angle_relative.end(),
                                       [&](double r) { return r == u || r == 0; }) &&
                           budget.positions_relative == 0;
  if (!one_product || (cos == stages.end() && sin == stages.end())) return out;
  out.asked = true;
  const Frequencies exact = frequencies_of(problem.rope);
  const auto pairs = static_cast<std::size_t>(exact.size());
  out.pairs = exact.size();

  std::vector<std::int64_t> order = telling_rows(problem.positions);
  const std::size_t telling = order.size();
  std::vector<bool> seen(static_cast<std::size_t>(problem.positions.count()));
  for (const std::int64_t row : order) seen[static_cast<std::size_t>(row)] = true;
  for (std::size_t row = 0; row < seen.size(); ++row)
    if (!seen[row]) order.push_back(static_cast<std::int64_t>(row));
  const auto c = cos == stages.end() ? std::vector<double>{} : to_doubles(cos->second);
  const auto s = sin == stages.end() ? std::vector<double>{} : to_doubles(sin->second);
  Test test(budget, amplitude_of(problem.rope).head(), positions_at(problem.positions, order), telling);

  for (std::size_t j = 0; j < pairs; ++j) {
    Column column;
    for (const std::int64_t row : order) {
      if (!c.empty()) column.cos.push_back(c[static_cast<std::size_t>(row) * pairs + j]);
      if (!s.empty()) column.sin.push_back(s[static_cast<std::size_t>(row) * pairs + j]);
    }
    const int pair = static_cast<int>(j);
    const double theta = exact.head(pair), reach = theta * budget.inv_freq_relative[j];
    const double unit = reference::ulp(theta, Format::float32);
    const auto explains = [&](float frequency) {
      if (std::fabs(frequency - theta) > reach) return false;
      ++out.tried;
      const reference::Table unrounded(Frequencies::given(std::array{static_cast<double>(frequency)}));
      const bool yes = test.explains(column, [&](auto rows, SinCos& to) { of_rounded_product(frequency, rows, to); }) ||
                       test.explains(column, [&](auto rows, SinCos& to) { unrounded.sparse(rows, to); });
      if (yes) out.largest_ulp = std::max(out.largest_ulp, std::fabs(frequency - theta) / unit);
      return yes;
    };
    // Outwards from the nearest.
    float above = static_cast<float>(theta), below = std::nextafter(above, 0.0F);
    bool yes = false;
    for (int step = 0; step < kMostCandidates && !yes; ++step) {
      if (std::fabs(above - theta) > reach && std::fabs(below - theta) > reach) break;
      yes = explains(above) || explains(below);
      above = std::nextafter(above, HUGE_VALF);
      below = std::nextafter(below, 0.0F);
    }
    if (!yes) {
      ++out.tried;
      yes = test.explains(column, [&](auto rows, SinCos& to) {
        thread_local SinCos all;
        to.resize(static_cast<std::int64_t>(rows.size()), 1);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const auto p = static_cast<double>(rows[i]);
          // theta_j over the reals is off from head + tail by 2^-105 of itself: nothing beside a limit in fp32.
          reference::sin_cos_of_angles(std::array{p * theta}, 1, 1, all);
          const double rest = std::fma(p, theta, -(p * theta)) + p * exact.tail(pair);
          to.sin[i] = all.sin[0] + rest * all.cos[0];
          to.cos[i] = all.cos[0] - rest * all.sin[0];
        }
      });
    }
    if (!yes) out.unexplained.push_back(pair);
  }
  return out;
}

}  // namespace ropewalk
