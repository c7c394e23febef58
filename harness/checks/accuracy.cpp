#include "harness/checks/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/checks/limits.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::SinCos;
using reference::ulp;

const Tensor& delivered(const Stages& observed, const std::string& stage, const Shape& shape) {
  const auto found = observed.find(stage);
  if (found == observed.end()) throw SubjectError("does not deliver the stage " + stage);
  if (found->second.shape() != shape)
    throw SubjectError(fmt::format("{} has shape [{}], expected [{}]", stage, fmt::join(found->second.shape(), ", "),
                                   fmt::join(shape, ", ")));
  return found->second;
}

void store(ErrorSize& size, double abs, double ulps) {
  size.max_abs = std::max(size.max_abs, abs);
  size.max_ulp = std::max(size.max_ulp, ulps);
}

}  // namespace

AccuracyCheck::AccuracyCheck(std::string stage, const Budget& budget, std::optional<UserLimit> user)
    : stage_(std::move(stage)), budget_(&budget), worst_budget_(&budget), user_(std::move(user)) {}

void AccuracyCheck::resize(std::size_t columns) {
  for (auto* column : {&made_.local_head, &made_.local_tail, &made_.total_head, &made_.total_tail, &made_.local_limit,
                       &made_.total_limit, &difference_, &ulps_, &rounded_, &total_angle_, &local_angle_})
    column->resize(columns);
}

ComparedRow AccuracyCheck::row(const double* got) const {
  return {made_.local_head.size(),  got,
          made_.local_head.data(),  made_.local_tail.data(),
          made_.total_head.data(),  made_.total_tail.data(),
          made_.local_limit.data(), made_.total_limit.data()};
}

void AccuracyCheck::add(const Stages& observed, Truth& truth, bool first_block) {
  if (stage_ == "positions")
    positions(observed, truth);
  else if (stage_ == "angle")
    angles(observed, truth);
  else if (stage_ != "inv_freq")
    trigonometry(observed, truth);
  else if (first_block)
    frequencies(observed, truth);
  rows_seen_ += static_cast<std::int64_t>(truth.positions().size());
}

void AccuracyCheck::positions(const Stages& observed, Truth& truth) {
  const auto exact = truth.positions();
  const auto rows = static_cast<std::int64_t>(exact.size()), axes = truth.axes();
  const Tensor& tensor = delivered(observed, stage_, axes == 1 ? Shape{rows} : Shape{rows, axes});
  const auto got = to_doubles(tensor);
  resize(static_cast<std::size_t>(axes));
  std::vector<double> of_axes(static_cast<std::size_t>(axes));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t a = 0; a < axes; ++a) {
      const double p = of_axes[a] = static_cast<double>(truth.position_on(a, r));
      const double stands_for = p / budget_->position_divisor;
      made_.local_head[a] = made_.total_head[a] = stands_for;
      made_.local_tail[a] = made_.total_tail[a] =
          -std::fma(stands_for, budget_->position_divisor, -p) / budget_->position_divisor;
      made_.local_limit[a] = made_.total_limit[a] =
          p <= budget_->positions_exact_below ? 0 : stands_for * budget_->positions_relative;
    }
    compare(row(&got[r * axes]), r, exact[r], tensor.dtype(), of_axes);
  }
}

void AccuracyCheck::frequencies(const Stages& observed, Truth& truth) {
  const auto& exact = truth.frequencies();
  const Tensor& tensor = delivered(observed, stage_, {exact.size()});
  const auto got = to_doubles(tensor);
  resize(got.size());
  for (int j = 0; j < exact.size(); ++j) {
    const double divisor = budget_->position_divisor, head = exact.head(j) * divisor;
    made_.local_head[j] = made_.total_head[j] = head;
    made_.local_tail[j] = made_.total_tail[j] = std::fma(exact.head(j), divisor, -head) + exact.tail(j) * divisor;
    made_.local_limit[j] = made_.total_limit[j] = std::fabs(head) * budget_->inv_freq_relative[j];
  }
  any_nonzero_position_ = true;  // no position enters
  compare(row(got.data()), 0, 0, tensor.dtype());
}

void AccuracyCheck::angle_limits(const reference::Frequencies& exact) {
  for (int j = 0; j < exact.size(); ++j) {
    const double of_inputs = compose(budget_->positions_relative, budget_->inv_freq_relative[j]);
    total_angle_[j] = std::fabs(exact.head(j)) * compose(of_inputs, budget_->angle_relative[j]);
  }
}

void AccuracyCheck::angles(const Stages& observed, Truth& truth) {
  const auto positions = truth.positions();
  const auto& exact = truth.frequencies();
  const int pairs = exact.size();
  const auto rows = static_cast<std::int64_t>(positions.size());
  const Tensor& tensor = delivered(observed, stage_, {rows, pairs});
  const auto got = to_doubles(tensor);
  const auto pos = observed.find("positions"), freq = observed.find("inv_freq");
  const bool anchored = pos != observed.end() && freq != observed.end();
  const auto p_seen = anchored ? to_doubles(pos->second) : std::vector<double>{};
  const auto f_seen = anchored ? to_doubles(freq->second) : std::vector<double>{};
  resize(static_cast<std::size_t>(pairs));
  angle_limits(exact);
  const std::int64_t axes = truth.axes();
  const auto axis = truth.axis_of_pairs();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto of_pairs = truth.positions_of_pairs(r);
    for (int j = 0; j < pairs; ++j) {
      const double p = of_pairs[j], head = p * exact.head(j);
      made_.total_head[j] = head;
      made_.total_tail[j] = std::fma(p, exact.head(j), -head) + p * exact.tail(j);
      made_.total_limit[j] = p * total_angle_[j];
      const double seen = anchored ? p_seen[r * axes + axis[j]] : 0, product = anchored ? seen * f_seen[j] : head;
      made_.local_head[j] = product;
      made_.local_tail[j] = anchored ? std::fma(seen, f_seen[j], -product) : made_.total_tail[j];
      made_.local_limit[j] = anchored ? std::fabs(product) * budget_->angle_relative[j] : made_.total_limit[j];
    }
    compare(row(&got[r * pairs]), r, positions[r], tensor.dtype(), of_pairs);
  }
}

void AccuracyCheck::trigonometry(const Stages& observed, Truth& truth) {
  const auto positions = truth.positions();
  const auto& exact = truth.frequencies();
  const auto rows = static_cast<std::int64_t>(positions.size());
  const auto pairs = static_cast<std::size_t>(exact.size());
  const Tensor& tensor = delivered(observed, stage_, {rows, exact.size()});
  const auto got = to_doubles(tensor);
  const auto angle = observed.find("angle"), freq = observed.find("inv_freq");
  // Frequencies that stand for others than the exact ones do not give the angle.
  const bool sine = stage_ == "sin", angle_seen = angle != observed.end(),
             freq_seen = freq != observed.end() && budget_->position_divisor == 1;
  const TrigBudget& budget = sine ? budget_->sin : budget_->cos;
  const double amplitude = truth.amplitude().head();  // of the function's slope, too
  const SinCos& total = truth.of_exact();
  const SinCos& local = angle_seen  ? truth.of_angles(angle->second)
                        : freq_seen ? truth.of_frequencies(freq->second)
                                    : total;
  resize(pairs);
  angle_limits(exact);
  // What the angle may be off by without having been observed: nothing, what its product rounds, or all of it.
  if (angle_seen) std::fill(local_angle_.begin(), local_angle_.end(), 0);
  if (!angle_seen && !freq_seen) local_angle_ = total_angle_;
  if (!angle_seen && freq_seen) {
    to_doubles(freq->second, local_angle_);
    for (std::size_t j = 0; j < pairs; ++j)
      local_angle_[j] = std::fabs(local_angle_[j]) * compose(budget_->positions_relative, budget_->angle_relative[j]);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::size_t at = static_cast<std::size_t>(r) * pairs;
    ComparedRow columns = row(&got[at]);
    columns.total_head = &(sine ? total.sin : total.cos)[at];
    columns.total_tail = &(sine ? total.sin_tail : total.cos_tail)[at];
    columns.local_head = &(sine ? local.sin : local.cos)[at];
    columns.local_tail = &(sine ? local.sin_tail : local.cos_tail)[at];
    double* limit = made_.local_limit.data();
    trig_limits(budget, {columns.local_head, pairs}, made_.local_limit);
    const auto of_pairs = truth.positions_of_pairs(r);
    for (std::size_t j = 0; j < pairs; ++j) {
      const double p = amplitude * of_pairs[j];
      made_.total_limit[j] = limit[j] + p * total_angle_[j];
      limit[j] += p * local_angle_[j];
    }
    compare(columns, r, positions[r], tensor.dtype(), of_pairs);
  }
}

void AccuracyCheck::compare(const ComparedRow& row, std::int64_t index, std::int64_t position, DType dtype,
                            std::span<const double> of_pairs) {
  const std::size_t n = row.columns;
  const Format format = is_floating(dtype) ? format_of(dtype) : Format::float64;
  dtype_ = name_of(dtype);
  any_nonzero_position_ = any_nonzero_position_ || position != 0;
  if (user_) {
    for (std::size_t j = 0; j < n; ++j) {
      made_.total_limit[j] = user_->unit == "ulp" ? user_->value * ulp(row.total_head[j], format) : user_->value;
      made_.local_limit[j] = std::numeric_limits<double>::infinity();
    }
  }
  const RowErrors errors = compare_row(row, format, difference_.data(), ulps_.data());
  reference::Proof proof;
  reference::round_to(format, {row.total_head, n}, {row.total_tail, n}, rounded_, proof);
  for (std::size_t j = 0; j < n; ++j) {
    nan_ += std::isnan(row.got[j]);
    inf_ += std::isinf(row.got[j]);
    mismatched_ += row.got[j] != rounded_[j];
  }

  const double largest_ratio = std::max(errors.local_ratio, errors.total_ratio);
  if (largest_ratio > std::max(local_ratio_, total_ratio_) || !any_limit_) {
    const bool local_decides = errors.local_ratio >= errors.total_ratio;
    const std::size_t at = worst_column(row, local_decides, difference_.data());
    worst_ = {of_pairs.empty() ? position : static_cast<std::int64_t>(of_pairs[at]), static_cast<std::int64_t>(at),
              rows_seen_ + index, row.got[at], local_decides ? row.local_head[at] : row.total_head[at]};
    worst_local_limit_ = row.local_limit[at];
    worst_total_limit_ = row.total_limit[at];
    worst_budget_ = budget_;
    any_limit_ = true;
  }
  local_ratio_ = std::max(local_ratio_, errors.local_ratio);
  total_ratio_ = std::max(total_ratio_, errors.total_ratio);
  store(error_.local, errors.local_abs, errors.local_ulp);
  store(error_.inherited, errors.inherited_abs, errors.inherited_ulp);
  statistics_.add(position, difference_, ulps_);
}

std::pair<std::string, std::string> AccuracyCheck::formulas(const Budget& budget) const {
  if (stage_ == "positions") {
    const std::string exact = fmt::format("0 up to {:.0f}", budget.positions_exact_below);
    const std::string formula = budget.positions_relative == 0
                                    ? exact
                                    : fmt::format("{}, then position * {:.4g}", exact, budget.positions_relative);
    return {formula, formula};
  }
  if (stage_ == "inv_freq") return {budget.inv_freq_formula, budget.inv_freq_formula};
  const std::string angle = "position * exact frequency * ((1 + r_j)(1 + r_angle) - 1)";
  if (stage_ == "angle") return {budget.angle_formula, angle};
  const std::string& own = stage_ == "sin" ? budget.sin_formula : budget.cos_formula;
  return {own, own + " + " + angle};
}

void AccuracyCheck::conclude(Result& result) const {
  result.measured = statistics_.result();
  result.measured.mismatched = mismatched_;
  result.measured.nan[0] = nan_;
  result.measured.inf[0] = inf_;
  result.stage_dtype = dtype_;
  AccuracyError error = error_;
  error.total = {result.measured.max_abs, result.measured.max_ulp};
  result.error = error;
  result.worst = worst_;
  const double largest = std::max(local_ratio_, total_ratio_);
  if (std::isfinite(largest)) result.margin = largest;
  if (user_) {
    result.total_limit =
        Limit{worst_total_limit_, "abs", fmt::format("{} {}", user_->value, user_->unit), user_->source};
  } else {
    const auto [local, total] = formulas(*worst_budget_);
    result.local_limit = Limit{worst_local_limit_, "abs", local, worst_budget_->source};
    result.total_limit = Limit{worst_total_limit_, "abs", total, worst_budget_->source};
  }
  result.verdict = local_ratio_ > 1 || total_ratio_ > 1 || nan_ > 0 || inf_ > 0 ? Verdict::fail : Verdict::pass;
  if (result.verdict == Verdict::pass && !any_nonzero_position_) {
    result.verdict = Verdict::untrusted;
    result.reason = "only position 0: every implementation gives the same there";
  }
}

}  // namespace ropewalk
