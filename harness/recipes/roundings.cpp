#include "harness/recipes/roundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <set>

#include "harness/recipes/axis_lists.hpp"
#include "harness/recipes/step.hpp"
#include "harness/recipes/tracked.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::precision_of;
using reference::unit_roundoff;

using Environment = std::map<std::string, Tracked>;

class Walk {
 public:
  Walk(const DocumentedBounds& device, const Case& problem, std::vector<CountedStep>* counted)
      : device_(device), problem_(problem), counted_(counted) {
    for (const auto& [name, list] : lists_of(problem)) seen_[name] = exactly(*list, DType::float64);
    if (problem.kind() != Kind::lora)
      for (const auto& [name, list] : axis_lists(problem.rope))
        seen_[name] = exactly({list.begin(), list.end()}, DType::int64);
  }

  Tracked stage(const StageSteps& steps) {
    Tracked result;
    unobserved_ = false;
    own_.clear();
    for (const Step& step : steps.steps) {
      if (!holds(step.when, problem_)) continue;
      result = run(step, result);
      if (counted_ != nullptr) {
        std::vector<double> relative(result.value.size());
        for (std::size_t j = 0; j < relative.size(); ++j) relative[j] = result.relative(j);
        counted_->push_back(
            {steps.stage, step, relative, result.trigonometric ? std::optional(result.trig) : std::nullopt});
      }
      if (step.as.empty()) continue;
      seen_[step.as] = result;
      own_.insert(step.as);
    }
    return result;
  }

  // Later stages see this one as it was observed: without an error of its own.
  void observe(const std::string& stage, Tracked result) {
    result.error.assign(result.error.size(), 0);
    seen_[stage] = std::move(result);
  }

  // Whether the last stage took an earlier one's intermediate result that is inexact: it was not observed.
  bool unobserved() const { return unobserved_; }

 private:
  struct In {
    const Tracked* tensor;  // or none, and then:
    double number;
  };

  In operand(const Operand& operand, const Tracked& previous) {
    const auto* name = std::get_if<std::string>(&operand);
    if (!name) return {nullptr, std::get<double>(operand)};
    if (*name == "previous") return {&previous, 0};
    const auto found = seen_.find(*name);
    if (found == seen_.end()) return {nullptr, parameter(*name, problem_)};
    const auto& error = found->second.error;
    const bool inexact = std::any_of(error.begin(), error.end(), [](double e) { return e != 0; });
    unobserved_ = unobserved_ || (inexact && !own_.contains(*name));
    return {&found->second, 0};
  }

  Tracked run(const Step& step, const Tracked& previous) {
    std::vector<In> in;
    for (const Operand& each : step.in) in.push_back(operand(each, previous));
    DType beside = DType::float32;  // the dtype that numbers take
    for (const In& each : in)
      if (each.tensor && is_floating(each.tensor->dtype)) beside = each.tensor->dtype;
    // Half-precision sums round a number to their own dtype first, products do not.
    const bool narrow = bytes_of(beside) == 2 && (step.op == Op::add || step.op == Op::subtract);
    const auto x = [&](std::size_t i) {
      if (in.at(i).tensor) return *in[i].tensor;
      const Tracked number = number_beside(in[i].number, beside);
      return narrow ? rounded(exactly(number.value, DType::float64), beside) : number;
    };
    const auto number = [&](std::size_t i) {
      if (in.at(i).tensor) throw Refused("no bound for this step of two tensors");
      return in[i].number;
    };
    const DType dtype = step_dtype(step, seen_, problem_.dtype, [](const Tracked& t) { return t.dtype; });
    const DocumentedBounds bounds = step.place == Place::cpu ? make_device("cpu")->bounds() : device_;

    switch (step.op) {
      case Op::arange:
        return arange(number(0), number(1), number(2), dtype);
      case Op::zeros:
        return rounded(exactly(std::vector<double>(static_cast<std::size_t>(number(0)), 0), DType::int64), dtype);
      case Op::scalar:
        return rounded(exactly({number(0)}, DType::int64), dtype);
      case Op::positions:
        return positions(dtype);
      case Op::same:
        return x(0);
      case Op::cast:
        return rounded(x(0), dtype);
      case Op::keep_bits:
        return truncated(x(0), static_cast<int>(number(1)));
      case Op::negate:
        return negated(x(0));
      case Op::real:
      case Op::imag:
        return x(0);
      case Op::cos:
      case Op::sin:
      case Op::polar:
        return trigonometric(x(0), bounds);
      case Op::less_turns:
      case Op::less_turns_fma:
      case Op::half_turns:
      case Op::half_turns_fma:
        return less_its_turns(step.op, x(0), problem_.positions.largest());
      case Op::cos_pi:
      case Op::sin_pi: {
        DocumentedBounds of_pi = bounds;
        of_pi.sin_cos_ulp = bounds.sincospi_ulp;
        return trigonometric(x(0), of_pi);
      }
      case Op::cos_fast:
      case Op::sin_fast:
        return approximated(step.op, x(0), problem_.positions.largest());
      case Op::reciprocal:
        return quotient(number_beside(1, x(0).dtype), x(0));
      case Op::multiply:
        if (x(0).trigonometric) return amplified(x(0), number(1));
        return product(x(0), x(1));
      case Op::divide:
        if (!in[0].tensor) return number_over(in[0].number, x(1));
        return in[1].tensor ? quotient(x(0), x(1)) : divided(x(0), number(1), bounds);
      case Op::add:
        return sum(x(0), x(1), 1);
      case Op::subtract:
        return sum(x(0), x(1), -1);
      case Op::fma:  // counts a rounding of the product, which there is not: an upper bound
        return sum(product(x(0), x(1)), x(2), 1);
      case Op::power:
        return power(x(0), x(1), bounds);
      case Op::exp:
      case Op::exp2:
        return exponential(x(0), step.op == Op::exp ? std::numbers::e : 2, bounds);
      case Op::log:
        return logarithm(x(0), bounds);
      case Op::clamp:
        return clamped(x(0), number(1), number(2));
      case Op::select_less:
        return selected(x(0), x(1), x(2), x(3));
      case Op::running_product:
        return running_product(x(0), x(1), static_cast<std::size_t>(number(2)));
      case Op::reshape:
        return x(0);
      case Op::index_select:
        return selected_by(x(0), x(2));
      case Op::concat:
        if (in.size() != 3) throw Refused("no bound for a concatenation of more than two");
        return joined(x(1), x(2));
      default:
        throw Refused("no bound for this step");
    }
  }

  static Tracked arange(double start, double end, double step, DType dtype) {
    std::vector<double> values;
    for (double v = start; v < end; v += step) values.push_back(v);
    return rounded(exactly(std::move(values), DType::int64), dtype);
  }

  // Every integer up to 2^p is a number of the dtype.
  Tracked positions(DType dtype) const {
    Tracked t = exactly({1}, DType::int64);
    t.by_position = true;
    const bool exact = is_floating(dtype) && static_cast<double>(problem_.positions.largest()) <=
                                                 std::ldexp(1, precision_of(format_of(dtype)));
    t = rounded(t, dtype);
    if (exact) t.error = {0};
    return t;
  }

  // Python's number / tensor is reciprocal(tensor) * number.
  static Tracked number_over(double number, const Tracked& x) {
    const Tracked inverse = quotient(number_beside(1, x.dtype), x);
    return number == 1 ? inverse : product(inverse, number_beside(number, x.dtype));
  }

  const DocumentedBounds& device_;
  const Case& problem_;
  std::vector<CountedStep>* counted_;
  Environment seen_;
  std::set<std::string> own_;  // names given in this stage
  bool unobserved_ = false;
};

std::vector<double> relative_of(const Tracked& t, std::size_t pairs) {
  std::vector<double> out(pairs);
  for (std::size_t j = 0; j < pairs; ++j) out[j] = t.relative(j);
  for (const double r : out)
    if (!(r < 1)) throw Refused("no bound: the roundings of this recipe may change a frequency by more than itself");
  return out;
}

bool all_equal(const std::vector<double>& list) {
  return std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
}

std::string trig_formula(const TrigBudget& trig) {
  std::string text = fmt::format("{} ulp({}) of the function", trig.function_ulp, name_of(trig.function_format));
  for (const Format f : trig.roundings) text += fmt::format(" + ulp({})/2", name_of(f));
  if (trig.relative > 0) text += fmt::format(" + {:.3g} |value|", trig.relative);
  if (trig.absolute > 0) text += fmt::format(" + {:.4g}", trig.absolute);
  return text;
}

}  // namespace

Budget count_roundings(const Recipe& claims, const DocumentedBounds& device, const Case& problem,
                       std::vector<CountedStep>* counted) {
  need_scaling(claims, problem);
  if (problem.rope.axial != (claims.axes == Axes::axial)) need_axes(claims, problem);  // other axes: the same roundings
  Walk walk(device, problem, counted);
  Budget budget;
  const auto table = stages_of(Kind::table);
  const auto pairs = static_cast<std::size_t>(problem.rope.rotary_dim() / 2);
  for (const StageSteps& steps : claims.stages) {
    if (std::find(table.begin(), table.end(), steps.stage) == table.end()) continue;
    const Tracked result = walk.stage(steps);
    const Format coarsest = result.coarsest.value_or(Format::float64);
    if (steps.stage == "positions") {
      const bool divided = result.value.at(0) != 1;
      if (divided) budget.position_divisor = problem.rope.scaling.factor;
      budget.positions_relative = result.relative(0);
      budget.positions_exact_below = divided ? 0 : std::ldexp(1, precision_of(coarsest));
      if (static_cast<double>(problem.positions.largest()) <= budget.positions_exact_below)
        budget.positions_relative = 0;
    } else if (steps.stage == "inv_freq") {
      if (result.value.size() != pairs || result.by_position)
        throw Refused("no bound for an inv_freq that is not one vector of known numbers");
      budget.inv_freq_relative = relative_of(result, pairs);
      budget.inv_freq_format = coarsest;
    } else if (steps.stage == "angle") {
      budget.angle_relative = relative_of(result, pairs);
      if (walk.unobserved())  // from what inv_freq was made of, instead of inv_freq as it was observed
        for (std::size_t j = 0; j < pairs; ++j)
          budget.angle_relative[j] =
              compose(budget.angle_relative[j], budget.inv_freq_relative.at(j) / (1 - budget.inv_freq_relative[j]));
      budget.angle_format = coarsest;
    } else if (steps.stage == "cos") {
      budget.cos = result.trig;
      budget.cos_format = coarsest;
      budget.cos_formula = trig_formula(result.trig);
    } else if (steps.stage == "sin") {
      budget.sin = result.trig;
      budget.sin_format = coarsest;
      budget.sin_formula = trig_formula(result.trig);
    }
    walk.observe(steps.stage, result);
  }
  const double worst = *std::max_element(budget.inv_freq_relative.begin(), budget.inv_freq_relative.end());
  budget.inv_freq_formula =
      fmt::format("|inv_freq| * r_j, r_j counted over the steps of {} with U_pow = {} ulp{}; largest r_j = {:.4g} u",
                  claims.name, device.pow_ulp, device.divides_by_reciprocal ? ", division by a reciprocal" : "",
                  worst / unit_roundoff(budget.inv_freq_format));
  const double of_angle = *std::max_element(budget.angle_relative.begin(), budget.angle_relative.end());
  budget.angle_formula =
      fmt::format("|position * inv_freq| * {}{:.4g} u", all_equal(budget.angle_relative) ? "" : "r_j, at most ",
                  of_angle / unit_roundoff(budget.angle_format));
  budget.source = "roundings of " + claims.name + " (running error analysis, Higham 2002, 3.3); " + device.source;
  return budget;
}

}  // namespace ropewalk
