#include "harness/recipes/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "harness/recipes/bounded.hpp"
#include "harness/recipes/lora_lists.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

class Analysis {
 public:
  Analysis(const DocumentedBounds& device, const Case& problem, double lambda)
      : device_(device), problem_(problem), lambda_(lambda) {}

  Bounded step(const Step& step, const Bounded& previous, const BoundedValues& known) {
    in_.clear();
    for (const Operand& operand : step.in) {
      const auto* name = std::get_if<std::string>(&operand);
      const auto found = name ? known.find(*name) : known.end();
      if (name && *name == "previous")
        in_.emplace_back(previous);
      else if (found != known.end())
        in_.emplace_back(found->second);
      else
        in_.emplace_back(name ? parameter(*name, problem_) : std::get<double>(operand));
    }
    if (is_lora_list(step.op)) return list(step);
    if (moves_elements(step.op)) return moved(step, known);
    if (sums_products(step.op)) return product(step, known);
    switch (step.op) {
      case Op::cast:
        return cast(tensor(0), dtype_of(step, known));
      case Op::arange: {
        const Tensor whole = in_float64(Op::arange, {number(0), number(1), number(2)});
        return cast({whole, zeros_like(whole), DType::float64}, dtype_of(step, known));
      }
      case Op::fma:
        return fused(tensor(0), tensor(1), tensor(2));
      case Op::mask_outside:
        return {in_float64(Op::mask_outside, {tensor(0).value, number(1), number(2)}), zeros_like(tensor(0).value),
                dtype_of(step, known)};
      case Op::negate:
        return {in_float64(Op::negate, {tensor(0).value}), tensor(0).error, tensor(0).dtype};
      case Op::tanh: {  // its slope is at most 1
        const double ulps = 2 * device_.exp_log_ulp;
        return rounded({each(tensor(0).value, [](double v) { return std::tanh(v); }), tensor(0).error, tensor(0).dtype},
                       tensor(0).dtype, ulps + 1);
      }
      case Op::multiply:
        return is_tensor(1) ? times(tensor(0), tensor(1)) : times(tensor(0), number(1));
      case Op::divide:
        return divided(tensor(0), number(1), device_.divides_by_reciprocal);
      case Op::add:
      case Op::subtract:
        return is_tensor(1) ? sum(step.op, tensor(0), tensor(1)) : sum(step.op, tensor(0), number(1));
      default:
        throw Refused("no bound for this step of a whole problem");
    }
  }

 private:
  using In = std::variant<Bounded, double>;
  const Bounded& tensor(std::size_t i) const {
    const auto* found = std::get_if<Bounded>(&in_.at(i));
    if (!found) throw Refused("a tensor is needed here");
    return *found;
  }
  bool is_tensor(std::size_t i) const { return std::holds_alternative<Bounded>(in_.at(i)); }
  double number(std::size_t i) const {
    const auto* found = std::get_if<double>(&in_.at(i));
    if (!found) throw Refused("a number is needed here");
    return *found;
  }

  DType dtype_of(const Step& step, const BoundedValues& known) const {
    return step_dtype(step, known, problem_.dtype, [](const Bounded& bounded) { return bounded.dtype; });
  }

  Bounded list(const Step& step) const {
    std::vector<Argument> in;
    for (const In& operand : in_) in.emplace_back(std::get<double>(operand));
    const Tensor made = lora_list(step.op, in, *problem_.lora);
    return {made, {}, made.dtype()};
  }

  // The same movement of the values and of their errors.
  Bounded moved(const Step& step, const BoundedValues& known) const {
    if (step.op == Op::same) return tensor(0);
    if (step.op == Op::empty || step.op == Op::to_empty) throw Refused("no bound for memory that nobody has written");
    std::vector<Argument> values, errors;
    DType dtype = step.op == Op::zeros ? dtype_of(step, known) : DType::float32;
    bool first = true;
    for (const In& operand : in_) {
      if (const auto* plain = std::get_if<double>(&operand)) {
        values.emplace_back(*plain);
        errors.emplace_back(*plain);
        continue;
      }
      const auto& bounded = std::get<Bounded>(operand);
      if (first) dtype = bounded.dtype;
      first = false;
      values.emplace_back(bounded.value);
      errors.emplace_back(bounded.error.empty() ? bounded.value : bounded.error);
    }
    if (writes_in_place(step.op))
      for (auto* side : {&values, &errors}) (*side)[0] = in_float64(Op::clone, {(*side)[0]});
    const Tensor value = in_float64(step.op, values);
    return {value, is_floating(dtype) ? in_float64(step.op, errors) : Tensor(), dtype};
  }

  Bounded product(const Step& step, const BoundedValues& known) const {
    if (step.op == Op::softmax) return cast(softmax(tensor(0), number(1), lambda_), dtype_of(step, known));
    if (step.op == Op::softmax_backward) return softmax_backward(tensor(0), tensor(1), lambda_);
    if (step.op == Op::largest) {
      if (number(1) != -1) throw Refused("no bound for the largest along another axis than the last");
      return largest(tensor(0));
    }
    if (step.op == Op::complex_rotate) return complex_rotated(tensor(0), tensor(1), tensor(2));
    if (step.op == Op::sdpa_math || step.op == Op::sdpa_flash)
      throw Refused("no bound for a kernel whose roundings are not listed; it claims a recipe that lists them");
    if (step.op == Op::add_) return sum(Op::add, tensor(0), tensor(1));
    if (step.op == Op::multiply_) return is_tensor(1) ? times(tensor(0), tensor(1)) : times(tensor(0), number(1));
    const Bounded& x = tensor(0);
    if (step.op == Op::sum) {
      const auto axis = static_cast<std::int64_t>(number(1));
      const auto dims = static_cast<std::int64_t>(x.value.shape().size());
      const auto terms = x.value.shape().at(static_cast<std::size_t>(axis < 0 ? axis + dims : axis));
      const Bounded sizes{in_float64(Op::sum, {magnitude(x), number(1)}), in_float64(Op::sum, {x.error, number(1)}),
                          x.dtype};
      Bounded out = rounded(sizes, x.dtype, roundings_of(static_cast<double>(terms), lambda_));
      out.value = in_float64(Op::sum, {x.value, number(1)});
      return out;
    }
    const Bounded& y = tensor(1);
    std::vector<Argument> rest;
    double terms = static_cast<double>(
        step.op == Op::conv_parts || step.op == Op::conv_grouped ? y.value.shape().back() : x.value.shape().back());
    const bool bias = step.op == Op::linear && in_.size() == 3;
    for (std::size_t i = 2; i < in_.size() && !bias; ++i) {
      rest.emplace_back(number(i));
      if (step.op == Op::part_products) terms = i == 2 ? number(i) : std::max(terms, number(i));
    }
    if (step.op == Op::part_outer) {
      const std::int64_t rows = x.value.size() / x.value.shape().back();
      terms = static_cast<double>(rows);
    }
    const auto with = [&](const Tensor& a, const Tensor& b) {
      std::vector<Argument> in{a, b};
      in.insert(in.end(), rest.begin(), rest.end());
      return in_float64(step.op, in);
    };
    // Any order of summation, fused or not: gamma_n of the sum of sizes (Higham 2002, 3.1).
    const Bounded sizes{with(magnitude(x), magnitude(y)), product_error(step.op, x, y, rest), x.dtype};
    Bounded out = rounded(sizes, promoted(x.dtype, y.dtype), roundings_of(terms, lambda_));
    out.value = with(x.value, y.value);
    if (bias) return sum(Op::add, out, tensor(2));
    return out;
  }

  const DocumentedBounds& device_;
  const Case& problem_;
  double lambda_;  // 0: the worst case
  std::vector<In> in_;
};

}  // namespace

Bounded bound_stage(const StageSteps& stage, BoundedValues& known, const DocumentedBounds& device, const Case& problem,
                    double lambda) {
  Analysis analysis(device, problem, lambda);
  Bounded result;
  for (const Step& step : stage.steps) {
    if (!holds(step.when, problem)) continue;
    result = analysis.step(step, result, known);
    if (!step.as.empty()) known[step.as] = result;
  }
  known[stage.stage] = result;
  return result;
}

}  // namespace ropewalk
