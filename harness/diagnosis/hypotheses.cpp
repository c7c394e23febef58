// The changes that fitting_hypotheses tries, each guessed from the table's own angles and then tested.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/cases/exact_rope.hpp"
#include "harness/cases/fields.hpp"
#include "harness/devices/device.hpp"
#include "harness/diagnosis/explain_table.hpp"
#include "harness/diagnosis/phases.hpp"
#include "harness/diagnosis/rows.hpp"

namespace ropewalk {
namespace {

std::vector<std::size_t> in_order(std::size_t pairs) {
  std::vector<std::size_t> out(pairs);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Values near x that somebody may have meant, the plainest first: 2 and 3 digits, whole, as it is.
std::vector<double> plain_values(double x) {
  std::vector<double> out;
  for (const int digits : {1, 2, 3, 4}) {
    const double unit = std::pow(10.0, std::floor(std::log10(x)) - digits + 1);
    out.push_back(std::round(x / unit) * unit);
  }
  out.push_back(std::round(x));
  out.push_back(x);
  return out;
}

class Fitter {
 public:
  Fitter(const Case& problem, const Stages& stages, const std::string& claims, bool base_known)
      : problem_(problem),
        stages_(stages),
        claims_(claims),
        base_known_(base_known),
        positions_(problem.positions.all()),
        phases_(phases_of(stages)),
        expected_(amplitude_of(problem.rope).head()) {
    plain_.base = problem.rope.base;
    plain_.amplitude = expected_;
    plain_.positions = positions_;
    plain_.pair_of = in_order(phases_.pairs);
    // Rounding turns a modulus by at most sqrt(2) u, and the amplitude by 2 u; 8 u is more than a right table shows.
    const double off = std::fabs(phases_.amplitude / expected_ - 1);
    if (off > 8 * reference::unit_roundoff(format_of(stages.at("cos").dtype()))) plain_.amplitude = phases_.amplitude;
  }

  std::vector<Explained> run() {
    if (!(phases_.amplitude > 0x1p-10)) return {};  // zeros, or NaN: nothing points anywhere
    few_ = telling_rows(problem_.positions);
    frequencies_ = fitted_frequencies(phases_, positions_);
    if (base_known_) {
      amplitude_and_signs();
      dropped_scaling();
      other_positions();
      order_of_pairs();
    }
    if (found_.empty()) base();
    return std::move(found_);
  }

 private:
  // Tested on some rows first, as most guesses are wrong.
  bool holds(Hypothesis hypothesis, const std::string& kind, const std::string& stage, const std::string& text) {
    hypothesis.kind = kind;
    hypothesis.stage = stage;
    hypothesis.text = text;
    if (hypothesis.amplitude != expected_ && kind != "amplitude") hypothesis.text += ", and " + amplitude_text();
    Hypothesis small = hypothesis;
    small.positions.clear();
    Stages rows;
    for (const std::int64_t row : few_) small.positions.push_back(hypothesis.positions[static_cast<std::size_t>(row)]);
    for (const char* name : {"cos", "sin"}) rows[name] = rows_of(stages_.at(name), few_);
    if (!test_hypothesis(small, problem_, rows, claims_).holds()) return false;
    Explained explained = test_hypothesis(hypothesis, problem_, stages_, claims_);
    const bool yes = explained.holds();
    if (yes) found_.push_back(std::move(explained));
    return yes;
  }

  // YaRN multiplies by 0.1 ln s + 1 (Peng et al. 2023, section 3.4).
  std::string amplitude_text() const {
    const double a = phases_.amplitude, s = std::exp((a - 1) / 0.1);
    std::string text = fmt::format("amplitude {:.7g} instead of {:.7g}", a, expected_);
    if (expected_ != 1 && std::fabs(a / (expected_ * expected_) - 1) < 0x1p-6) text += ", its square";
    if (a > 1 && s < 1000 && std::fabs(s - std::round(s)) < 0.01)
      text += fmt::format(" (YaRN's 0.1 ln s + 1 for s = {:.0f})", std::round(s));
    return text;
  }

  void amplitude_and_signs() {
    if (plain_.amplitude != expected_) holds(plain_, "amplitude", "cos", amplitude_text());
    Hypothesis changed = plain_;
    changed.swapped = true;
    holds(changed, "exchanged", "cos", "cosines and sines have each other's place");
    changed = plain_;
    changed.negated = true;
    holds(changed, "sign", "sin", "the sines have the other sign: rotation the other way, or positions below 0");
  }

  void dropped_scaling() {
    if (problem_.rope.scaling.type == reference::Scaling::Type::none) return;
    Hypothesis changed = plain_;
    changed.unscaled = true;
    holds(changed, "scaling", "inv_freq", fmt::format("without the scaling {}", name_of(problem_.rope.scaling.type)));
  }

  void other_positions() {
    const auto exact = frequencies_of(problem_.rope);
    std::vector<double> frequencies(phases_.pairs);
    for (std::size_t j = 0; j < frequencies.size(); ++j) frequencies[j] = exact.head(static_cast<int>(j));
    const auto seen = fitted_positions(phases_, frequencies, positions_);
    if (offset(seen) || rounded_positions() || scale(seen)) return;
    Hypothesis changed = plain_;
    std::size_t different = 0, first = positions_.size();
    for (std::size_t r = 0; r < seen.size(); ++r) {
      if (!(seen[r] >= 0 && seen[r] < 0x1p24)) return;
      changed.positions[r] = std::llround(seen[r]);
      if (changed.positions[r] == positions_[r]) continue;
      ++different;
      first = std::min(first, r);
    }
    if (different == 0) return;
    holds(changed, "positions", "positions",
          fmt::format("{} of {} rows hold another position; the first is that of {}, which holds {}", different,
                      positions_.size(), positions_[first], changed.positions[first]));
  }

  bool offset(const std::vector<double>& seen) {
    const auto by = std::llround(seen.front() - static_cast<double>(positions_.front()));
    if (by == 0 || positions_.front() + by < 0) return false;
    Hypothesis changed = plain_;
    for (std::int64_t& p : changed.positions) p += by;
    return holds(changed, "offset", "positions",
                 fmt::format("positions {} by {}", by > 0 ? "ahead" : "behind", std::abs(by)));
  }

  bool rounded_positions() {
    const auto cpu = make_device("cpu");
    Tensor exact(DType::int64, {static_cast<std::int64_t>(positions_.size()), 1});
    std::copy(positions_.begin(), positions_.end(), exact.as<std::int64_t>().begin());
    for (const DType dtype : {DType::bfloat16, DType::float16}) {
      Hypothesis changed = plain_;
      const auto rounded = to_doubles(cpu->apply(Op::positions, std::vector<Argument>{exact}, dtype));
      for (std::size_t r = 0; r < rounded.size(); ++r) {
        if (!std::isfinite(rounded[r])) return false;
        changed.positions[r] = std::llround(rounded[r]);
      }
      if (changed.positions == positions_) continue;
      if (holds(changed, "rounded positions", "positions", fmt::format("positions rounded to {}", name_of(dtype))))
        return true;
    }
    return false;
  }

  // Linear scaling divides by a whole number as a rule.
  bool scale(const std::vector<double>& seen) {
    if (positions_.back() == 0) return false;
    const double slope = seen.back() / static_cast<double>(positions_.back());
    if (!(slope > 1e-3 && slope < 1e3) || std::fabs(slope - 1) < 1e-6) return false;
    std::vector<double> guesses;
    if (slope < 1)
      for (const double divisor : plain_values(1 / slope)) guesses.push_back(1 / divisor);
    else
      guesses = plain_values(slope);
    for (const double guess : guesses) {
      Hypothesis changed = plain_;
      changed.scale = guess;
      const std::string by =
          guess < 1 ? fmt::format("divided by {:.9g}", 1 / guess) : fmt::format("times {:.9g}", guess);
      if (guess > 0 && holds(changed, "scale", "positions", "positions (or frequencies) " + by)) return true;
    }
    return false;
  }

  void order_of_pairs() {
    Hypothesis changed = plain_;
    std::vector<bool> taken(phases_.pairs);
    for (std::size_t j = 0; j < phases_.pairs; ++j) {
      if (!(frequencies_[j] > 0)) return;
      const double place =
          -std::log(frequencies_[j]) * static_cast<double>(phases_.pairs) / std::log(problem_.rope.base);
      const auto pair = std::lround(place);
      if (pair < 0 || static_cast<std::size_t>(pair) >= phases_.pairs || taken[static_cast<std::size_t>(pair)]) return;
      taken[static_cast<std::size_t>(pair)] = true;
      changed.pair_of[j] = static_cast<std::size_t>(pair);
    }
    if (changed.pair_of != plain_.pair_of) holds(changed, "order", "inv_freq", order_text(changed.pair_of));
  }

  static std::string order_text(const std::vector<std::size_t>& pair_of) {
    const std::size_t n = pair_of.size(), half = (n + 1) / 2;
    const auto is = [&](auto formula) {
      for (std::size_t j = 0; j < n; ++j)
        if (pair_of[j] != formula(j)) return false;
      return true;
    };
    if (is([&](std::size_t j) { return n - 1 - j; })) return "pairs in the opposite order";
    if (is([&](std::size_t j) { return (j ^ 1) < n ? (j ^ 1) : j; })) return "neighbouring pairs exchanged";
    if (is([&](std::size_t j) { return j < half ? 2 * j : 2 * (j - half) + 1; }))
      return "even pairs first, then odd ones: an interleaved order read as halves";
    if (is([&](std::size_t j) { return j % 2 == 0 ? j / 2 : half + j / 2; }))
      return "halves interleaved: a half-split order read as interleaved";
    constexpr std::size_t kShown = 16;
    const std::vector<std::size_t> shown(pair_of.begin(),
                                         pair_of.begin() + static_cast<std::ptrdiff_t>(std::min(n, kShown)));
    return fmt::format("pairs in another order: {}{}", fmt::join(shown, ", "), n > kShown ? ", ..." : "");
  }

  void base() {
    const double fitted = fitted_base(frequencies_, phases_, positions_.back() - positions_.front());
    if (!(fitted > 1 && fitted < 1e12)) return;
    for (const double guess : plain_values(fitted)) {
      if (base_known_ && guess == problem_.rope.base) continue;
      Hypothesis changed = plain_;
      changed.base = guess;
      const std::string text = base_known_
                                   ? fmt::format("base {} instead of {}", plain(guess), plain(problem_.rope.base))
                                   : fmt::format("base {}", plain(guess));
      if (guess > 1 && holds(changed, "base", "inv_freq", text)) return;
    }
  }

  const Case& problem_;
  const Stages& stages_;
  const std::string& claims_;
  bool base_known_;
  std::vector<std::int64_t> positions_, few_;
  Phases phases_;
  double expected_;  // amplitude
  std::vector<double> frequencies_;
  Hypothesis plain_;
  std::vector<Explained> found_;
};

}  // namespace

std::vector<double> plausible_bases(const std::vector<double>& frequencies) {
  const double fitted = fitted_base(frequencies, {}, 1);
  return fitted > 1 && fitted < 1e12 ? plain_values(fitted) : std::vector<double>{};
}

std::vector<Explained> fitting_hypotheses(const Case& problem, const Stages& stages, const std::string& claims,
                                          bool base_known) {
  if (!stages.contains("cos") || !stages.contains("sin")) return {};
  return Fitter(problem, stages, claims, base_known).run();
}

}  // namespace ropewalk
