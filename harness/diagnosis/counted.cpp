#include "harness/diagnosis/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "harness/cases/fields.hpp"
#include "harness/checks/limits.hpp"
#include "harness/recipes/ops.hpp"
#include "reference/frequencies.hpp"

namespace ropewalk {
namespace {

constexpr double kUnit = 0x1p-24;

std::string text_of(const Step& step) {
  const auto op = std::find_if(kOps.begin(), kOps.end(), [&](const OpInfo& info) { return info.op == step.op; });
  std::vector<std::string> operands;
  for (const Operand& operand : step.in) {
    const auto* name = std::get_if<std::string>(&operand);
    operands.push_back(name ? *name : plain(std::get<double>(operand)));
  }
  std::string text = fmt::format("{}({})", op->name, fmt::join(operands, ", "));
  if (op->takes_dtype) text += " to " + step.dtype;
  if (step.place == Place::cpu) text += " on the cpu";
  return text;
}

std::string text_of(const TrigBudget& trig) {
  std::string text = fmt::format("{} ulp of {}", trig.function_ulp, name_of(trig.function_format));
  for (const reference::Format f : trig.roundings) text += fmt::format(" + 1/2 ulp of {}", name_of(f));
  if (trig.relative > 0) text += fmt::format(" + {:.3g} |value|", trig.relative);
  return text;
}

}  // namespace

std::string steps_text(const std::vector<CountedStep>& steps, const std::string& stage, std::size_t pair) {
  std::string out;
  for (const CountedStep& counted : steps) {
    const bool other_function =
        (stage == "cos" && counted.stage == "sin") || (stage == "sin" && counted.stage == "cos");
    if (other_function) continue;
    const double relative =
        counted.relative.empty() ? 0 : counted.relative[std::min(pair, counted.relative.size() - 1)];
    const std::string bound = counted.trig ? text_of(*counted.trig) : fmt::format("{:.4g} u", relative / kUnit);
    out += fmt::format("  {:<10} {:<44} {}\n", counted.stage, text_of(counted.step), bound);
    const bool last_of_stage = &counted == &steps.back() || (&counted + 1)->stage != counted.stage;
    if (last_of_stage && counted.stage == stage) break;
  }
  return out;
}

std::string limit_text(const Budget& budget, const Rope& rope, const std::string& stage, std::int64_t position,
                       std::size_t pair, double value) {
  const auto exact = reference::Frequencies::powers(rope.base, static_cast<int>(rope.rotary_dim()));
  const auto p = static_cast<double>(position);
  const double theta =
      exact.head(static_cast<int>(std::min<std::size_t>(pair, static_cast<std::size_t>(exact.size()) - 1)));
  const double r = budget.inv_freq_relative.at(std::min(pair, budget.inv_freq_relative.size() - 1));
  const double r_angle = budget.angle_relative;
  if (stage == "positions")
    return fmt::format("  {} (exact up to {:.0f}, then p {:.4g})\n",
                       p <= budget.positions_exact_below ? 0 : p * budget.positions_relative,
                       budget.positions_exact_below, budget.positions_relative);
  if (stage == "inv_freq")
    return fmt::format("  theta_j r_j = {:.9g} * {:.4g} u = {:.3g}   (u = 2^-24)\n", theta, r / kUnit, theta * r);
  const double of_inputs = compose(budget.positions_relative, r);
  const double angle = p * theta * compose(of_inputs, r_angle);
  const std::string angle_text = fmt::format("p theta_j ((1 + r_j)(1 + r_angle) - 1) = {} * {:.9g} * {:.4g} u = {:.3g}",
                                             position, theta, compose(of_inputs, r_angle) / kUnit, angle);
  if (stage == "angle")
    return fmt::format("  local: |p w_j| r_angle = |{:.9g}| * {:.4g} u = {:.3g}\n  total: {}\n", value, r_angle / kUnit,
                       std::fabs(value) * r_angle, angle_text);
  const TrigBudget& trig = stage == "sin" ? budget.sin : budget.cos;
  std::array<double, 1> v{value}, limit{};
  trig_limits(trig, v, limit);
  return fmt::format("  local: {} at {:.9g} = {:.3g}\n  total: the same + {}; together {:.3g}\n", text_of(trig), value,
                     limit[0], angle_text, limit[0] + angle);
}

}  // namespace ropewalk
