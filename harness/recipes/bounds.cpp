#include "harness/recipes/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/cases/inputs.hpp"
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
        const Tensor whole = apply(Op::arange, {number(0), number(1), number(2)});
        return cast({whole, zeros_like(whole), DType::float64}, dtype_of(step, known));
      }
      case Op::fma:
        return fused(tensor(0), tensor(1), tensor(2));
      case Op::mask_outside:
        return {apply(Op::mask_outside, {tensor(0).value, number(1), number(2)}), zeros_like(tensor(0).value),
                dtype_of(step, known)};
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
  double roundings_of(double terms) const { return lambda_ > 0 ? std::min(terms, lambda_ * std::sqrt(terms)) : terms; }
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

  // x minus a number, which 16-bit kernels round to their own format first.
  static Bounded sum(Op op, const Bounded& x, double number) {
    const double off = std::fabs(number) * unit_roundoff(format_of(x.dtype));
    const Bounded exact{apply(op, {x.value, number}), map(x.error, [&](double e) { return e + off; }), x.dtype};
    return rounded(exact, x.dtype);
  }

  static Bounded fused(const Bounded& x, const Bounded& y, const Bounded& z) {
    const Bounded exact{apply(Op::add, {apply(Op::multiply, {x.value, y.value}), z.value}),
                        apply(Op::add, {product_error(Op::multiply, x, y), z.error}), x.dtype};
    return rounded(exact, x.dtype);
  }

  // (a + ib)(c + id): two products, each rounded or not, and one sum.
  static Bounded complex_rotated(const Bounded& x, const Bounded& c, const Bounded& s) {
    const auto part = [&](double first) {
      const auto slice = [&](const Tensor& t) {
        return apply(Op::slice, {t, -1.0, first, static_cast<double>(t.shape().back()), 2.0});
      };
      return Bounded{slice(x.value), slice(x.error), x.dtype};
    };
    const Bounded re = part(0), im = part(1);
    const Bounded first = sum(Op::subtract, times(re, c), times(im, s)),
                  second = sum(Op::add, times(im, c), times(re, s));
    const auto joined = [&](const Tensor& a, const Tensor& b) {
      Shape shape = x.value.shape();
      std::vector<Argument> sizes{apply(Op::stack, {-1.0, a, b})};
      for (const std::int64_t n : shape) sizes.emplace_back(static_cast<double>(n));
      return apply(Op::reshape, sizes);
    };
    return {joined(first.value, second.value), joined(first.error, second.error), x.dtype};
  }

  // p (g - sum of g p): the sum in any order, one difference, one product.
  Bounded softmax_backward(const Bounded& g, const Bounded& p) const {
    Bounded products = times(g, p);
    const double n = roundings_of(static_cast<double>(products.value.shape().back()));
    Bounded total{apply(Op::sum, {products.value, -1.0}), apply(Op::sum, {products.error, -1.0}), g.dtype};
    Shape shape = products.value.shape();
    shape.back() = 1;
    const Tensor magnitudes = apply(Op::sum, {magnitude(products), -1.0});
    total.error = map(total.error, magnitudes, [&](double e, double m) {
      const double u = unit_roundoff(g.dtype == DType::float64 ? Format::float64 : Format::float32);
      return e + n * u / (1 - n * u) * m;
    });
    total.value = total.value.reshaped(shape);
    total.error = total.error.reshaped(shape);
    return times(p, sum(Op::subtract, g, total));
  }

  Bounded largest(const Bounded& x) const {
    const std::int64_t n = x.value.shape().back();
    if (number(1) != -1) throw Refused("no bound for the largest along another axis than the last");
    Shape shape = x.value.shape();
    shape.back() = 1;
    Bounded out{Tensor(DType::float64, shape), Tensor(DType::float64, shape), x.dtype};
    const auto values = x.value.as<double>(), errors = x.error.as<double>();
    for (std::size_t row = 0; row < out.value.as<double>().size(); ++row) {
      const auto at = static_cast<std::ptrdiff_t>(row) * n;
      out.value.as<double>()[row] = *std::max_element(values.begin() + at, values.begin() + at + n);
      out.error.as<double>()[row] = *std::max_element(errors.begin() + at, errors.begin() + at + n);
    }
    return out;
  }

  // Logits off by d change a weight by a factor within exp(2 d). Then x - max is rounded, exp is good to 20 ulp
  // (LibTorch's exp_u20 for the CPU; CUDA's expf is closer), n terms are summed and one quotient is taken. Logits that
  // lie 800 below the largest have no weight, however far off they are (a finite mask's). A row that sees no key is
  // what the case's convention makes of it, to the last bit where the least number absorbs what it is added to.
  Bounded softmax(const Step& step, const BoundedValues& known) const {
    const Bounded& x = tensor(0);
    Tensor value = copy_of(apply(Op::softmax, {x.value, number(1)}));
    const auto n = static_cast<std::size_t>(x.value.shape().back());
    const Format format = x.dtype == DType::float64 ? Format::float64 : Format::float32;
    const double u = unit_roundoff(format), sums = (roundings_of(static_cast<double>(n)) + 42) * u;
    Tensor error(DType::float64, x.value.shape());
    const auto logits = x.value.as<double>(), off = x.error.as<double>();
    const auto weights = value.as<double>();
    const auto out = error.as<double>();
    for (std::size_t row = 0; row + n <= logits.size(); row += n) {
      double largest = -HUGE_VAL, d = 0, off_of_largest = 0;
      for (std::size_t j = row; j < row + n; ++j) {
        if (logits[j] > largest) off_of_largest = off[j];
        largest = std::max(largest, logits[j]);
      }
      if (largest < 0.5 * least(x.dtype)) {
        for (std::size_t j = row; j < row + n; ++j) {
          weights[j] = std::isfinite(largest) ? 1 / static_cast<double>(n) : 0;
          out[j] = weights[j] * 1.01 * sums;
        }
        continue;
      }
      for (std::size_t j = row; j < row + n; ++j)
        if (logits[j] + off[j] > largest - off_of_largest - 800) d = std::max(d, off[j]);
      for (std::size_t j = row; j < row + n; ++j) {
        if (logits[j] + off[j] <= largest - off_of_largest - 800) {
          out[j] = 0x1p-126;
          continue;
        }
        const double spread = std::isfinite(logits[j]) ? largest - logits[j] + 2 * d : 0;
        out[j] = weights[j] * std::expm1(2 * d + 2 * u * spread + 1.01 * sums) + 0x1p-126;
      }
    }
    return cast({value, error, x.dtype == DType::float64 ? DType::float64 : DType::float32}, dtype_of(step, known));
  }

  Bounded product(const Step& step, const BoundedValues& known) const {
    if (step.op == Op::softmax) return softmax(step, known);
    if (step.op == Op::softmax_backward) return softmax_backward(tensor(0), tensor(1));
    if (step.op == Op::largest) return largest(tensor(0));
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
      const Bounded sizes{apply(Op::sum, {magnitude(x), number(1)}), apply(Op::sum, {x.error, number(1)}), x.dtype};
      Bounded out = rounded(sizes, x.dtype, roundings_of(static_cast<double>(terms)));
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
    Bounded out = rounded(sizes, promoted(x.dtype, y.dtype), roundings_of(terms));
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

Bounded exactly(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return {tensor, {}, tensor.dtype()};
  Tensor value(DType::float64, tensor.shape());
  to_doubles(tensor, value.as<double>());
  return {value, zeros_like(value), tensor.dtype()};
}

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
