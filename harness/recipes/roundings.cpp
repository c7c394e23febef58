#include "harness/recipes/roundings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "harness/recipes/step.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::precision_of;
using reference::unit_roundoff;

// A quantity on its way through the steps. Its value is known for what depends on the pair alone, and not for what
// depends on the position; `relative` bounds its relative error either way.
struct Tracked {
  std::vector<double> value, relative;
  bool known = false;
  DType dtype = DType::float32;
  std::optional<Format> coarsest;  // the rounding with the fewest bits so far
  TrigBudget trig;                 // only what a cosine or sine made has one
  bool trigonometric = false;
};

using Environment = std::map<std::string, Tracked>;

Format arithmetic_format(DType dtype) {
  return dtype == DType::float64 ? Format::float64 : Format::float32;  // half-precision kernels compute in fp32
}

bool representable(double v, Format f) {
  if (v == 0) return true;
  const double unit = reference::ulp(v, f);
  return std::fabs(v) < 0x1p100 && std::floor(v / unit) == v / unit;
}

class Walk {
 public:
  Walk(const DocumentedBounds& device, const Case& problem, std::vector<CountedStep>* counted)
      : device_(device), problem_(problem), counted_(counted) {}

  Tracked stage(const StageSteps& steps, Environment& seen) {
    Tracked result;
    for (const Step& step : steps.steps) {
      result = run(step, result, seen);
      if (counted_ != nullptr)
        counted_->push_back(
            {steps.stage, step, result.relative, result.trigonometric ? std::optional(result.trig) : std::nullopt});
      if (!step.as.empty()) seen[step.as] = result;
    }
    return result;
  }

 private:
  Tracked run(const Step& step, const Tracked& previous, const Environment& seen) {
    std::vector<const Tracked*> tensors;
    std::vector<double> numbers;
    bool number_first = false;
    for (const Operand& operand : step.in) {
      const auto* name = std::get_if<std::string>(&operand);
      const auto found = name ? seen.find(*name) : seen.end();
      if (name && *name == "previous")
        tensors.push_back(&previous);
      else if (found != seen.end())
        tensors.push_back(&found->second);
      else {
        number_first = number_first || tensors.empty();
        numbers.push_back(name ? parameter(*name, problem_) : std::get<double>(operand));
      }
    }
    if (tensors.empty() && numbers.empty() && step.op != Op::positions) tensors.push_back(&previous);
    const DType dtype = step_dtype(step, seen, problem_.dtype, [](const Tracked& t) { return t.dtype; });
    bounds_ = step.place == Place::cpu ? make_device("cpu")->bounds() : device_;

    switch (step.op) {
      case Op::arange:
        return arange(numbers, dtype);
      case Op::positions:
        return rounded({{}, {0}, false, dtype, {}, {}, false}, dtype, false);
      case Op::cast:
        return rounded(*tensors.at(0), dtype, true);
      case Op::keep_bits:
        return truncated(*tensors.at(0), static_cast<int>(numbers.at(0)));
      case Op::negate:
      case Op::real:
      case Op::imag:
        return *tensors.at(0);
      case Op::cos:
      case Op::sin:
      case Op::polar:
        return trigonometric(*tensors.at(0));
      case Op::reciprocal:
        return arithmetic(
            *tensors.at(0), [](double v) { return 1 / v; }, 0);
      case Op::multiply:
        return numbers.empty() ? product(*tensors.at(0), *tensors.at(1)) : scaled(*tensors.at(0), numbers.at(0));
      case Op::divide:
        if (numbers.empty()) throw Refused("no bound for a quotient of two tensors");
        return number_first ? numerator(*tensors.at(0), numbers.at(0)) : divided(*tensors.at(0), numbers.at(0));
      case Op::power:
        if (numbers.empty() || !number_first) throw Refused("no bound for this power");
        return power(numbers.at(0), *tensors.at(0));
      default:
        throw Refused("no bound for this step");
    }
  }

  static Tracked arange(const std::vector<double>& numbers, DType dtype) {
    Tracked t;
    t.known = true;
    t.dtype = DType::int64;
    for (double v = numbers.at(0); v < numbers.at(1); v += numbers.at(2)) t.value.push_back(v);
    t.relative.assign(t.value.size(), 0);
    return rounded(t, dtype, true);
  }

  static void note(Tracked& t, Format f) {
    if (!t.coarsest || precision_of(f) < precision_of(*t.coarsest)) t.coarsest = f;
  }

  // One rounding to dtype, free where the value is known to be representable or the dtype holds all of the old one.
  static Tracked rounded(Tracked t, DType dtype, bool from_dtype) {
    const bool widens = from_dtype && is_floating(dtype) && is_floating(t.dtype) &&
                        precision_of(format_of(dtype)) >= precision_of(format_of(t.dtype));
    t.dtype = dtype;
    if (!is_floating(dtype) || widens) return t;
    const Format f = format_of(dtype);
    note(t, f);
    if (t.trigonometric) {
      t.trig.roundings.push_back(f);
      return t;
    }
    for (std::size_t j = 0; j < t.relative.size(); ++j)
      if (!t.known || t.relative[j] != 0 || !representable(t.value[j], f))
        t.relative[j] = compose(t.relative[j], unit_roundoff(f));
    return t;
  }

  static Tracked truncated(Tracked t, int bits) {
    for (double& r : t.relative) r = compose(r, std::ldexp(1, 1 - bits));
    return t;
  }

  // f applied to the value, with `extra` relative error and one rounding; exact where value and result are.
  template <class F>
  Tracked arithmetic(Tracked t, F f, double extra) const {
    const Format format = arithmetic_format(t.dtype);
    note(t, format);
    for (std::size_t j = 0; j < t.relative.size(); ++j) {
      const double value = t.known ? f(t.value[j]) : 0;
      // A quotient of short numbers that is inexact cannot end in 29 zero bits, so representable means exact.
      const bool exact = t.known && t.relative[j] == 0 && extra == 0 && representable(value, format);
      const double spread = t.relative[j] / (1 - t.relative[j]);  // covers a reciprocal too
      if (!exact) t.relative[j] = compose(compose(spread, extra), unit_roundoff(format));
      if (t.known) t.value[j] = value;
    }
    return half_result(t);
  }

  // Half-precision kernels round their fp32 result once more.
  static Tracked half_result(Tracked t) {
    return t.dtype == DType::bfloat16 || t.dtype == DType::float16 ? rounded(t, t.dtype, false) : t;
  }

  Tracked scaled(const Tracked& x, double by) const {
    if (by == 1) return x;
    if (x.trigonometric) {
      Tracked t = x;
      t.trig.relative = compose(t.trig.relative, 2 * unit_roundoff(arithmetic_format(x.dtype)));
      return t;
    }
    return arithmetic(
        x, [by](double v) { return v * by; }, number_error(by, x.dtype));
  }

  Tracked divided(const Tracked& x, double by) const {
    if (by == 1) return x;
    const Format format = arithmetic_format(x.dtype);
    const bool reciprocal = bounds_.divides_by_reciprocal && !representable(1 / by, format);
    const double extra = compose(number_error(by, x.dtype), reciprocal ? unit_roundoff(format) : 0);
    return arithmetic(
        x, [by](double v) { return v / by; }, extra);
  }

  Tracked numerator(const Tracked& x, double number) const {
    const Tracked inverse = arithmetic(
        x, [](double v) { return 1 / v; }, 0);
    return number == 1 ? inverse : scaled(inverse, number);
  }

  static double number_error(double number, DType dtype) {
    const Format f = arithmetic_format(dtype);
    return representable(number, f) ? 0 : unit_roundoff(f);
  }

  static Tracked product(const Tracked& x, const Tracked& y) {
    const bool x_by_rows = !x.known;
    Tracked t = x_by_rows ? x : y;
    const Tracked& other = x_by_rows ? y : x;
    t.known = false;
    t.coarsest = other.coarsest && (!t.coarsest || precision_of(*other.coarsest) < precision_of(*t.coarsest))
                     ? other.coarsest
                     : t.coarsest;
    t.dtype = x.dtype == y.dtype                                       ? x.dtype
              : x.dtype == DType::float64 || y.dtype == DType::float64 ? DType::float64
                                                                       : DType::float32;
    const double mine = *std::max_element(t.relative.begin(), t.relative.end());
    const double theirs = *std::max_element(other.relative.begin(), other.relative.end());
    const Format format = arithmetic_format(t.dtype);
    note(t, format);
    t.relative = {compose(compose(mine, theirs), unit_roundoff(format))};
    return half_result(t);
  }

  // base^(x (1 + e)) = base^x * base^(x e); the number itself may have to be rounded to the tensor's type.
  Tracked power(double base, const Tracked& x) const {
    if (!x.known) throw Refused("no bound for a power of what depends on the position");
    const Format format = arithmetic_format(x.dtype);
    const double u = unit_roundoff(format);
    Tracked t = x;
    note(t, format);
    for (std::size_t j = 0; j < t.relative.size(); ++j) {
      const double exponent = x.value.at(j);
      t.value[j] = std::pow(base, exponent);
      if (exponent == 0 && x.relative[j] == 0) continue;  // C99: pow(x, 0) is 1
      const double of_exponent = std::expm1(std::fabs(exponent * std::log(base)) * x.relative[j]);
      const double of_base = std::expm1(std::fabs(exponent) * std::log1p(number_error(base, x.dtype)));
      t.relative[j] = compose(compose(of_exponent, of_base), 2 * bounds_.pow_ulp * u);
    }
    return half_result(t);
  }

  Tracked trigonometric(const Tracked& angle) const {
    Tracked t = angle;
    t.trigonometric = true;
    t.known = false;
    t.coarsest.reset();
    t.trig = {bounds_.sin_cos_ulp, arithmetic_format(angle.dtype), {}, 0};
    note(t, t.trig.function_format);
    return half_result(t);
  }

  const DocumentedBounds& device_;
  const Case& problem_;
  std::vector<CountedStep>* counted_;
  DocumentedBounds bounds_;
};

std::string trig_formula(const TrigBudget& trig) {
  std::string text = fmt::format("{} ulp({}) of the function", trig.function_ulp, name_of(trig.function_format));
  for (const Format f : trig.roundings) text += fmt::format(" + ulp({})/2", name_of(f));
  if (trig.relative > 0) text += fmt::format(" + {:.3g} |value|", trig.relative);
  return text;
}

}  // namespace

Budget count_roundings(const Recipe& claims, const DocumentedBounds& device, const Case& problem,
                       std::vector<CountedStep>* counted) {
  Walk walk(device, problem, counted);
  Environment seen;
  Budget budget;
  const auto table = stages_of(Kind::table);
  for (const StageSteps& steps : claims.stages) {
    if (std::find(table.begin(), table.end(), steps.stage) == table.end()) continue;
    Tracked result = walk.stage(steps, seen);
    const Format coarsest = result.coarsest.value_or(Format::float64);
    if (steps.stage == "positions") {
      budget.positions_relative = result.relative.at(0);
      budget.positions_exact_below = std::ldexp(1, precision_of(coarsest));
      if (static_cast<double>(problem.positions.largest()) <= budget.positions_exact_below)
        budget.positions_relative = 0;
    } else if (steps.stage == "inv_freq") {
      budget.inv_freq_relative = result.relative;
      budget.inv_freq_format = coarsest;
    } else if (steps.stage == "angle") {
      budget.angle_relative = result.relative.at(0);
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
    // Later stages see this one as it was observed: without an error of its own.
    result.relative.assign(result.relative.size(), 0);
    seen[steps.stage] = result;
  }
  if (static_cast<std::int64_t>(budget.inv_freq_relative.size()) != problem.rope.rotary_dim() / 2)
    throw Refused("no bound for an inv_freq that is not one vector of known exponents");
  const double worst = *std::max_element(budget.inv_freq_relative.begin(), budget.inv_freq_relative.end());
  budget.inv_freq_formula =
      fmt::format("|inv_freq| * r_j, r_j counted over the steps of {} with U_pow = {} ulp{}; largest r_j = {:.4g} u",
                  claims.name, device.pow_ulp, device.divides_by_reciprocal ? ", division by a reciprocal" : "",
                  worst / unit_roundoff(budget.inv_freq_format));
  budget.angle_formula =
      fmt::format("|position * inv_freq| * {:.4g} u", budget.angle_relative / unit_roundoff(budget.angle_format));
  budget.source = "roundings of " + claims.name + " (running error analysis, Higham 2002, 3.3); " + device.source;
  return budget;
}

}  // namespace ropewalk
