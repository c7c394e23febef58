#include "harness/diagnosis/phases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace ropewalk {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Of an angle that was made in fp32: the frequency's power and the product, a few units each.
constexpr double kAngleRoundings = 16 * 0x1p-24;

// The angle nearest to `expected` that differs from `angle` by whole turns.
double unwrapped(double angle, double expected) { return angle + kTurn * std::round((expected - angle) / kTurn); }

}  // namespace

Phases phases_of(const Stages& stages) {
  Phases out;
  const auto cos = stages.find("cos"), sin = stages.find("sin"), angle = stages.find("angle");
  const bool table = cos != stages.end() && sin != stages.end() && cos->second.shape() == sin->second.shape();
  if (!table && angle == stages.end()) return out;
  const Tensor& shaped = table ? cos->second : angle->second;
  out.rows = static_cast<std::size_t>(shaped.shape()[0]);
  out.pairs = static_cast<std::size_t>(shaped.shape()[1]);
  out.noise = 2 * reference::unit_roundoff(format_of(shaped.dtype())) + 1e-6;
  out.angle = to_doubles(shaped);
  if (!table) return out;
  const auto sines = to_doubles(sin->second);
  double sum = 0;
  for (std::size_t i = 0; i < sines.size(); ++i) {
    sum += std::hypot(out.angle[i], sines[i]);
    out.angle[i] = std::atan2(sines[i], out.angle[i]);
  }
  out.amplitude = sum / static_cast<double>(sines.size());
  return out;
}

std::vector<double> fitted_frequencies(const Phases& phases, std::span<const std::int64_t> positions) {
  std::vector<double> out(phases.pairs, kNaN);
  if (phases.rows < 2) return out;
  // Neighbours that lie closest tell the frequency without counting turns: no frequency is above one radian.
  std::size_t first = 0;
  for (std::size_t r = 0; r + 1 < phases.rows; ++r) {
    const auto gap = positions[r + 1] - positions[r], best = positions[first + 1] - positions[first];
    if (gap > 0 && (gap < best || best == 0)) first = r;
  }
  for (std::size_t j = 0; j < phases.pairs; ++j) {
    double frequency = 0, uncertain = 1, last_gap = 0;
    bool any = false;
    for (std::size_t r = first + 1; r < phases.rows; ++r) {
      const auto gap = static_cast<double>(positions[r] - positions[first]);
      if (gap < 1.5 * last_gap || gap <= 0 || uncertain * gap > 1.5) continue;
      const double turned = unwrapped(phases.at(r, j) - phases.at(first, j), frequency * gap);
      frequency = turned / gap;
      uncertain = 2 * phases.noise / gap + std::fabs(frequency) * kAngleRoundings;
      last_gap = gap;
      any = true;
    }
    if (any) out[j] = frequency;
  }
  return out;
}

std::vector<double> fitted_positions(const Phases& phases, std::span<const double> frequencies,
                                     std::span<const std::int64_t> positions) {
  std::vector<std::size_t> slow_first(phases.pairs);
  std::iota(slow_first.begin(), slow_first.end(), 0);
  std::sort(slow_first.begin(), slow_first.end(),
            [&](std::size_t a, std::size_t b) { return std::fabs(frequencies[a]) < std::fabs(frequencies[b]); });
  std::vector<double> out(phases.rows);
  for (std::size_t r = 0; r < phases.rows; ++r) {
    auto position = static_cast<double>(positions[r]);
    for (const std::size_t j : slow_first)
      if (frequencies[j] != 0) position = unwrapped(phases.at(r, j), position * frequencies[j]) / frequencies[j];
    out[r] = position;
  }
  return out;
}

double fitted_base(std::span<const double> frequencies, const Phases& phases, std::int64_t longest) {
  const auto dim = 2 * static_cast<double>(frequencies.size());
  double sum = 0, weights = 0;
  for (std::size_t j = 1; j < frequencies.size(); ++j) {
    const double w = frequencies[j];
    if (!(w > 0)) continue;
    const double per_log = dim / (2 * static_cast<double>(j));
    const double uncertain =
        per_log * (2 * phases.noise / (w * static_cast<double>(std::max<std::int64_t>(longest, 1))) + kAngleRoundings);
    sum += -per_log * std::log(w) / (uncertain * uncertain);
    weights += 1 / (uncertain * uncertain);
  }
  return weights > 0 ? std::exp(sum / weights) : kNaN;
}

}  // namespace ropewalk
