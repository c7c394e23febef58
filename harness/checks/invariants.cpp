#include "harness/checks/invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "harness/checks/limits.hpp"

namespace ropewalk {
namespace {

// Of 64 values that are rounded to p bits the chance that none uses the last bit is 2^-64.
constexpr std::int64_t kEnoughValues = 64;

int significand_bits(double v) {
  const std::uint64_t fraction = std::bit_cast<std::uint64_t>(v) & ((std::uint64_t{1} << 52) - 1);
  return fraction == 0 ? 1 : 53 - std::countr_zero(fraction);
}

bool trigonometric(const std::string& stage) { return stage == "cos" || stage == "sin"; }

}  // namespace

void InvariantsCheck::add(const Stages& observed, Truth& truth, bool first_block) {
  const auto found = observed.find(stage_);
  if (found == observed.end()) throw SubjectError("does not deliver the stage " + stage_);
  if (stage_ == "inv_freq" && !first_block) return;
  const auto values = to_doubles(found->second);
  dtype_ = name_of(found->second.dtype());
  compared_ += static_cast<std::int64_t>(values.size());
  for (const double v : values) not_finite_ += !std::isfinite(v);
  for (const double v : values) largest_ = std::max(largest_, std::fabs(v));
  if (stage_ != "positions") significands(values, found->second.dtype());
  if (!trigonometric(stage_)) return;
  amplitude_ = truth.amplitude().head();
  // An amplitude of 1 leaves no room: no rounding takes a cosine beyond 1, or that of 0 away from it.
  std::vector<double> room(1);
  if (amplitude_ != 1) trig_limits(stage_ == "cos" ? budget_->cos : budget_->sin, {&amplitude_, 1}, room);
  for (const double v : values) beyond_ += std::fabs(v) > amplitude_ + room[0];
  row_zero(values, truth, room[0]);
  if (stage_ == "cos" && observed.contains("sin")) squares(observed);
}

void InvariantsCheck::significands(const std::vector<double>& values, DType dtype) {
  dtype_bits_ = reference::precision_of(format_of(dtype));
  const double smallest = std::ldexp(1, reference::min_exponent_of(format_of(dtype)));
  for (const double v : values) {
    if (!std::isfinite(v) || std::fabs(v) < smallest) continue;
    const int bits = significand_bits(v);
    bits_ = std::max(bits_, bits);
    usable_ += bits > 1;
  }
}

void InvariantsCheck::row_zero(const std::vector<double>& values, Truth& truth, double room) {
  const auto positions = truth.positions();
  const std::size_t pairs = values.size() / positions.size();
  for (std::size_t r = 0; r < positions.size(); ++r) {
    if (truth.axes() == 1 && positions[r] != 0) continue;
    const auto of_pairs = truth.positions_of_pairs(r);
    for (std::size_t j = 0; j < pairs; ++j) {
      if (of_pairs[j] != 0) continue;
      row_zero_wrong_ +=
          stage_ == "cos" ? !(std::fabs(values[r * pairs + j] - amplitude_) <= room) : values[r * pairs + j] != 0;
    }
  }
}

// |c^2 + s^2 - A^2| <= 2 (|c| dc + |s| ds) + dc^2 + ds^2 when each is off by at most its own budget and A is the
// amplitude; the sum itself is evaluated with an error below 3 * 2^-53 for A = 1. The square of another amplitude,
// rounded itself, adds as much again.
void InvariantsCheck::squares(const Stages& observed) {
  const auto cosine = to_doubles(observed.at("cos")), sine = to_doubles(observed.at("sin"));
  if (sine.size() != cosine.size()) return;
  std::vector<double> dcs(cosine.size()), dss(sine.size());
  trig_limits(budget_->cos, cosine, dcs);
  trig_limits(budget_->sin, sine, dss);
  const double square = amplitude_ * amplitude_, rounding = (amplitude_ == 1 ? 3 : 6) * 0x1p-53 * square;
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    const double dc = dcs[i], ds = dss[i];
    const double limit = 2 * (std::fabs(cosine[i]) * dc + std::fabs(sine[i]) * ds) + dc * dc + ds * ds + rounding;
    const double off = std::fabs(std::fma(cosine[i], cosine[i], sine[i] * sine[i]) - square);
    if (off / limit <= worst_square_ratio_) continue;
    worst_square_ratio_ = off / limit;
    worst_square_ = off;
    worst_square_limit_ = limit;
  }
}

void InvariantsCheck::add_again(const Stages& once, const Stages& again, const std::string& how) {
  const auto a = once.find(stage_), b = again.find(stage_);
  if (a == once.end() || b == again.end()) return;
  again_compared_ += a->second.size();
  if (!same_bits(a->second, b->second)) changed_by_.insert(how);
}

reference::Format InvariantsCheck::expected_format() const {
  if (stage_ == "inv_freq") return budget_->inv_freq_format;
  if (stage_ == "angle") return budget_->angle_format;
  return stage_ == "cos" ? budget_->cos_format : budget_->sin_format;
}

void InvariantsCheck::conclude(Result& result) const {
  result.measured.compared = compared_;
  result.stage_dtype = dtype_;
  std::vector<std::string> broken;
  if (not_finite_ > 0) broken.push_back(fmt::format("{} values are NaN or infinite", not_finite_));
  const std::string one = amplitude_ == 1 ? "1" : fmt::format("the amplitude {}", amplitude_);
  if (beyond_ > 0)
    broken.push_back(fmt::format("{} values exceed {} in size, the largest is {}", beyond_, one, largest_));
  if (row_zero_wrong_ > 0) broken.push_back(fmt::format("{} values of position 0 are wrong", row_zero_wrong_));
  if (worst_square_ratio_ > 1)
    broken.push_back(fmt::format("cos^2 + sin^2 is off by {:.3g}, limit {:.3g}", worst_square_, worst_square_limit_));
  if (stage_ != "positions") {
    const int expected = std::min(dtype_bits_, reference::precision_of(expected_format()));
    result.details["significand_bits"] = {{"used", bits_}, {"expected", expected}, {"dtype", dtype_bits_}};
    if (usable_ >= kEnoughValues && bits_ < expected)
      broken.push_back(fmt::format("only {} significand bits in use, {} expected", bits_, expected));
  }
  if (stage_ == "cos") result.details["squares"] = {{"largest", worst_square_}, {"limit", worst_square_limit_}};
  result.details["computed_again"] = {{"compared", again_compared_}, {"changed_by", changed_by_}};
  for (const std::string& how : changed_by_) broken.push_back("bits change with " + how);
  result.verdict = broken.empty() ? Verdict::pass : Verdict::fail;
  result.reason = fmt::format("{}", fmt::join(broken, "; "));
  if (trigonometric(stage_)) result.margin = std::max(worst_square_ratio_, beyond_ > 0 ? largest_ / amplitude_ : 0.0);
  if (broken.empty() && stage_ != "positions" && largest_ == 0) {
    result.verdict = Verdict::untrusted;
    result.reason = "all zeros";
  }
}

}  // namespace ropewalk
