#include "harness/diagnosis/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "harness/cases/exact_rope.hpp"
#include "harness/cases/fields.hpp"
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
  if (trig.absolute > 0) text += fmt::format(" + {:.4g}", trig.absolute);
  return text;
}

}  // namespace

std::string steps_text(const Budget& budget, const std::vector<CountedStep>& steps, const std::string& stage,
                       std::size_t pair) {
  std::string out;
  for (const CountedStep& counted : steps) {
    const bool other_function =
        (stage == "cos" && counted.stage == "sin") || (stage == "sin" && counted.stage == "cos");
    if (other_function) continue;
    // A step of the frequencies of one axis has those of each other axis too.
    const double relative = counted.relative.empty() ? 0 : counted.relative[pair % counted.relative.size()];
    std::string bound = counted.trig ? text_of(*counted.trig) : fmt::format("{:.4g} u", relative / kUnit);
    if (counted.stage == "positions" && relative > 0)
      bound += fmt::format(" above {:.0f}", budget.positions_exact_below);
    out += fmt::format("  {:<10} {:<44} {}\n", counted.stage, text_of(counted.step), bound);
    const bool last_of_stage = &counted == &steps.back() || (&counted + 1)->stage != counted.stage;
    if (last_of_stage && counted.stage == stage) break;
  }
  return out;
}

std::string limit_text(const Budget& budget, const Rope& rope, const LimitPlace& at) {
  if (at.stage == "positions")
    return fmt::format("  0 up to {:.0f}, above that position * {:.4g}: {:.3g}\n", budget.positions_exact_below,
                       budget.positions_relative, at.total);
  const auto exact = frequencies_of(rope);
  const double theta = exact.head(static_cast<int>(at.pair)), r = budget.inv_freq_relative.at(at.pair);
  if (at.stage == "inv_freq")
    return fmt::format("  theta_j r_j = {:.9g} * {:.4g} u = {:.3g}\n", theta, r / kUnit, theta * r);
  const double of_angle = compose(compose(budget.positions_relative, r), budget.angle_relative.at(at.pair));
  const double angle = static_cast<double>(at.position) * theta * of_angle;
  const std::string angle_text = fmt::format("p theta_j ((1 + r_j)(1 + r_angle) - 1) = {} * {:.9g} * {:.4g} u = {:.3g}",
                                             at.position, theta, of_angle / kUnit, angle);
  if (at.stage == "angle")
    return fmt::format("  local: product of the observed position and frequency * {:.4g} u = {:.3g}\n  total: {}\n",
                       budget.angle_relative[at.pair] / kUnit, at.local, angle_text);
  // What the function may be off by is the same in both; what the angle may be off by is all that differs.
  const double function = at.total - angle, unseen = at.local - function;
  std::string text = fmt::format("  function: {}, of its value there = {:.3g}\n",
                                 text_of(at.stage == "sin" ? budget.sin : budget.cos), function);
  if (unseen > 0x1p-40 * at.local)
    text += fmt::format("  local: that, and what an angle that was not delivered may be off by = {:.3g}\n", at.local);
  return text + fmt::format("  total: function + {}; together {:.3g}\n", angle_text, at.total);
}

}  // namespace ropewalk
