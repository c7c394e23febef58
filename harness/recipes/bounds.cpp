#include "harness/recipes/bounds.hpp"

#include <cmath>
#include <functional>

#include "harness/recipes/lora_lists.hpp"
#include "harness/recipes/roundings.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::unit_roundoff;

Device& cpu() {
  static const std::shared_ptr<Device> device = make_device("cpu");
  return *device;
}

Tensor apply(Op op, std::vector<Argument> in) { return cpu().apply(op, in, DType::float64); }

template <class F>
Tensor map(const Tensor& x, F f) {
  Tensor out(DType::float64, x.shape());
  const auto from = x.as<double>();
  const auto to = out.as<double>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(from[i]);
  return out;
}

template <class F>
Tensor map(const Tensor& x, const Tensor& y, F f) {
  Tensor out(DType::float64, x.shape());
  const auto a = x.as<double>(), b = y.as<double>();
  const auto to = out.as<double>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(a[i], b[i]);
  return out;
}

Tensor magnitude(const Bounded& x) {
  return map(x.value, x.error, [](double v, double e) { return std::fabs(v) + e; });
}

Tensor zeros_like(const Tensor& x) { return {DType::float64, x.shape()}; }

// Half the distance of the smallest two numbers of the format: what a rounding near zero may cost.
double half_subnormal(Format format) { return 0.5 * reference::ulp(0, format); }

// n roundings, one after the other, of what is already off by `error`: gamma_n = n u / (1 - n u).
Tensor with_roundings(const Tensor& value, const Tensor& error, Format format, double n) {
  const double gamma = n * unit_roundoff(format) / (1 - n * unit_roundoff(format)), tiny = n * half_subnormal(format);
  return map(value, error,
             [&](double v, double e) { return std::isinf(v) ? 0 : e + gamma * (std::fabs(v) + e) + tiny; });
}

// Kernels of the half formats compute in float32 and round once more at the end.
Bounded rounded(Bounded x, DType dtype, double operations = 1) {
  const Format wide = dtype == DType::float64 ? Format::float64 : Format::float32;
  x.error = with_roundings(x.value, x.error, wide, operations);
  if (bytes_of(dtype) == 2) x.error = with_roundings(x.value, x.error, format_of(dtype), 1);
  x.dtype = dtype;
  return x;
}

DType promoted(DType a, DType b) {
  if (a == b) return a;
  return a == DType::float64 || b == DType::float64 ? DType::float64 : DType::float32;
}

// A number beside a tensor is rounded to the arithmetic's format.
double number_error(double number, DType dtype) {
  if (dtype == DType::float64 || static_cast<double>(static_cast<float>(number)) == number) return 0;
  return std::fabs(number) * unit_roundoff(Format::float32);
}

class Analysis {
 public:
  Analysis(const DocumentedBounds& device, const Case& problem) : device_(device), problem_(problem) {}

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
      case Op::negate:
        return {apply(Op::negate, {tensor(0).value}), tensor(0).error, tensor(0).dtype};
      case Op::tanh: {  // its slope is at most 1
        const double ulps = 2 * device_.exp_log_ulp;
        return rounded({map(tensor(0).value, [](double v) { return std::tanh(v); }), tensor(0).error, tensor(0).dtype},
                       tensor(0).dtype, ulps + 1);
      }
      case Op::multiply:
        return is_tensor(1) ? times(tensor(0), tensor(1)) : times(tensor(0), number(1));
      case Op::divide:
        return divided(tensor(0), number(1));
      case Op::add:
      case Op::subtract:
        return sum(step.op, tensor(0), tensor(1));
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
      for (auto* side : {&values, &errors}) (*side)[0] = apply(Op::clone, {(*side)[0]});
    const Tensor value = apply(step.op, values);
    return {value, is_floating(dtype) ? apply(step.op, errors) : Tensor(), dtype};
  }

  static Bounded cast(Bounded x, DType dtype) {
    if (x.error.empty() || !is_floating(dtype)) throw Refused("no bound for a cast between integers and numbers");
    const bool widens = reference::precision_of(format_of(dtype)) >= reference::precision_of(format_of(x.dtype)) &&
                        !(dtype == DType::bfloat16 && x.dtype == DType::float16) &&
                        !(dtype == DType::float16 && x.dtype == DType::bfloat16);
    if (!widens) x.error = with_roundings(x.value, x.error, format_of(dtype), 1);
    x.dtype = dtype;
    return x;
  }

  // |xy - x'y'| <= |x| ey + ex |y| with |x|, |y| grown by their own errors.
  static Tensor product_error(Op op, const Bounded& x, const Bounded& y, std::vector<Argument> rest = {}) {
    const auto with = [&](const Tensor& a, const Tensor& b) {
      std::vector<Argument> in{a, b};
      in.insert(in.end(), rest.begin(), rest.end());
      return apply(op, in);
    };
    return apply(Op::add, {with(magnitude(x), y.error), with(x.error, magnitude(y))});
  }

  static Bounded times(const Bounded& x, const Bounded& y) {
    const Bounded exact{apply(Op::multiply, {x.value, y.value}), product_error(Op::multiply, x, y), DType::float32};
    return rounded(exact, promoted(x.dtype, y.dtype));
  }

  static Bounded times(const Bounded& x, double number) {
    const double off = number_error(number, x.dtype);
    const Bounded exact{
        map(x.value, [&](double v) { return v * number; }),
        map(x.value, x.error, [&](double v, double e) { return e * (std::fabs(number) + off) + std::fabs(v) * off; }),
        x.dtype};
    return rounded(exact, x.dtype);
  }

  Bounded divided(const Bounded& x, double number) const {
    Bounded out = times(x, 1 / number);
    if (device_.divides_by_reciprocal) out = rounded(out, x.dtype);
    return out;
  }

  static Bounded sum(Op op, const Bounded& x, const Bounded& y) {
    const Tensor value = apply(op, {x.value, y.value});
    const Tensor error = apply(Op::add, {x.error, y.error});  // broadcast like the values
    return rounded({value, error, DType::float32}, promoted(x.dtype, y.dtype));
  }

  // Logits off by d change a weight by a factor within exp(2 d). Then x - max is rounded, exp is good to 20 ulp
  // (LibTorch's exp_u20 for the CPU; CUDA's expf is closer), n terms are summed and one quotient is taken.
  Bounded softmax(const Step& step, const BoundedValues& known) const {
    const Bounded& x = tensor(0);
    const Tensor value = apply(Op::softmax, {x.value, number(1)});
    const auto n = static_cast<std::size_t>(x.value.shape().back());
    const Format format = x.dtype == DType::float64 ? Format::float64 : Format::float32;
    const double u = unit_roundoff(format), sums = static_cast<double>(n + 42) * u;
    Tensor error(DType::float64, x.value.shape());
    const auto logits = x.value.as<double>(), off = x.error.as<double>(), weights = value.as<double>();
    const auto out = error.as<double>();
    for (std::size_t row = 0; row + n <= logits.size(); row += n) {
      double largest = -HUGE_VAL, d = 0;
      for (std::size_t j = row; j < row + n; ++j) {
        largest = std::max(largest, logits[j]);
        if (std::isfinite(logits[j])) d = std::max(d, off[j]);
      }
      for (std::size_t j = row; j < row + n; ++j) {
        const double spread = std::isfinite(logits[j]) ? largest - logits[j] + 2 * d : 0;
        out[j] = weights[j] * std::expm1(2 * d + 2 * u * spread + 1.01 * sums) + 0x1p-126;
      }
    }
    return cast({value, error, x.dtype == DType::float64 ? DType::float64 : DType::float32}, dtype_of(step, known));
  }

  Bounded product(const Step& step, const BoundedValues& known) const {
    if (step.op == Op::softmax) return softmax(step, known);
    if (step.op == Op::sdpa_math || step.op == Op::sdpa_flash)
      throw Refused("no bound for a kernel whose roundings are not listed; it claims a recipe that lists them");
    if (step.op == Op::add_) return sum(Op::add, tensor(0), tensor(1));
    if (step.op == Op::multiply_) return is_tensor(1) ? times(tensor(0), tensor(1)) : times(tensor(0), number(1));
    const Bounded& x = tensor(0);
    if (step.op == Op::sum) {
      const auto axis = static_cast<std::int64_t>(number(1));
      const auto dims = static_cast<std::int64_t>(x.value.shape().size());
      const auto terms = x.value.shape().at(static_cast<std::size_t>(axis < 0 ? axis + dims : axis));
      const Bounded sizes{apply(Op::sum, {magnitude(x), number(1)}), apply(Op::sum, {x.error, number(1)}), x.dtype};
      Bounded out = rounded(sizes, x.dtype, static_cast<double>(terms));
      out.value = apply(Op::sum, {x.value, number(1)});
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
    if (step.op == Op::part_outer) terms = static_cast<double>(x.value.size() / x.value.shape().back());
    const auto with = [&](const Tensor& a, const Tensor& b) {
      std::vector<Argument> in{a, b};
      in.insert(in.end(), rest.begin(), rest.end());
      return apply(step.op, in);
    };
    // Any order of summation, fused or not: gamma_n of the sum of sizes (Higham 2002, 3.1).
    const Bounded sizes{with(magnitude(x), magnitude(y)), product_error(step.op, x, y, rest), x.dtype};
    Bounded out = rounded(sizes, promoted(x.dtype, y.dtype), terms);
    out.value = with(x.value, y.value);
    if (bias) return sum(Op::add, out, tensor(2));
    return out;
  }

  const DocumentedBounds& device_;
  const Case& problem_;
  std::vector<In> in_;
};

}  // namespace

Bounded exactly(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return {tensor, {}, tensor.dtype()};
  Tensor value(DType::float64, tensor.shape());
  to_doubles(tensor, value.as<double>());
  return {value, zeros_like(value), tensor.dtype()};
}

Bounded bound_stage(const StageSteps& stage, BoundedValues& known, const DocumentedBounds& device,
                    const Case& problem) {
  Analysis analysis(device, problem);
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
