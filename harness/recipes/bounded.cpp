#include "harness/recipes/bounded.hpp"

#include <algorithm>
#include <cmath>

#include "harness/devices/device.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::unit_roundoff;

Device& cpu() {
  static const std::shared_ptr<Device> device = make_device("cpu");
  return *device;
}

// Half the distance of the smallest two numbers of the format: what a rounding near zero may cost.
double half_subnormal(Format format) { return 0.5 * reference::ulp(0, format); }

// n roundings, one after the other, of what is already off by `error`: gamma_n = n u / (1 - n u).
Tensor with_roundings(const Tensor& value, const Tensor& error, Format format, double n) {
  const double gamma = n * unit_roundoff(format) / (1 - n * unit_roundoff(format)), tiny = n * half_subnormal(format);
  return each(value, error,
              [&](double v, double e) { return std::isinf(v) ? 0 : e + gamma * (std::fabs(v) + e) + tiny; });
}

// A number beside a tensor is rounded to the arithmetic's format.
double number_error(double number, DType dtype) {
  if (dtype == DType::float64 || static_cast<double>(static_cast<float>(number)) == number) return 0;
  return std::fabs(number) * unit_roundoff(Format::float32);
}

}  // namespace

Tensor in_float64(Op op, const std::vector<Argument>& in) { return cpu().apply(op, in, DType::float64); }

Tensor magnitude(const Bounded& x) {
  return each(x.value, x.error, [](double v, double e) { return std::fabs(v) + e; });
}

Tensor zeros_like(const Tensor& x) { return {DType::float64, x.shape()}; }

DType promoted(DType a, DType b) {
  if (a == b) return a;
  return a == DType::float64 || b == DType::float64 ? DType::float64 : DType::float32;
}

double roundings_of(double terms, double lambda) {
  return lambda > 0 ? std::min(terms, lambda * std::sqrt(terms)) : terms;
}

Bounded rounded(Bounded x, DType dtype, double operations) {
  const Format wide = dtype == DType::float64 ? Format::float64 : Format::float32;
  x.error = with_roundings(x.value, x.error, wide, operations);
  if (bytes_of(dtype) == 2) x.error = with_roundings(x.value, x.error, format_of(dtype), 1);
  x.dtype = dtype;
  return x;
}

Bounded cast(Bounded x, DType dtype) {
  if (x.error.empty() || !is_floating(dtype)) throw Refused("no bound for a cast between integers and numbers");
  const bool widens = reference::precision_of(format_of(dtype)) >= reference::precision_of(format_of(x.dtype)) &&
                      !(dtype == DType::bfloat16 && x.dtype == DType::float16) &&
                      !(dtype == DType::float16 && x.dtype == DType::bfloat16);
  if (!widens) x.error = with_roundings(x.value, x.error, format_of(dtype), 1);
  x.dtype = dtype;
  return x;
}

Tensor product_error(Op op, const Bounded& x, const Bounded& y, const std::vector<Argument>& rest) {
  const auto with = [&](const Tensor& a, const Tensor& b) {
    std::vector<Argument> in{a, b};
    in.insert(in.end(), rest.begin(), rest.end());
    return in_float64(op, in);
  };
  return in_float64(Op::add, {with(magnitude(x), y.error), with(x.error, magnitude(y))});
}

Bounded times(const Bounded& x, const Bounded& y) {
  const Bounded exact{in_float64(Op::multiply, {x.value, y.value}), product_error(Op::multiply, x, y), DType::float32};
  return rounded(exact, promoted(x.dtype, y.dtype));
}

Bounded times(const Bounded& x, double number) {
  const double off = number_error(number, x.dtype);
  const Bounded exact{
      each(x.value, [&](double v) { return v * number; }),
      each(x.value, x.error, [&](double v, double e) { return e * (std::fabs(number) + off) + std::fabs(v) * off; }),
      x.dtype};
  return rounded(exact, x.dtype);
}

Bounded divided(const Bounded& x, double number, bool by_reciprocal) {
  const Bounded out = times(x, 1 / number);
  return by_reciprocal ? rounded(out, x.dtype) : out;
}

Bounded sum(Op op, const Bounded& x, const Bounded& y) {
  const Tensor value = in_float64(op, {x.value, y.value});
  const Tensor error = in_float64(Op::add, {x.error, y.error});  // broadcast like the values
  return rounded({value, error, DType::float32}, promoted(x.dtype, y.dtype));
}

// A number that 16-bit kernels round to their own format first.
Bounded sum(Op op, const Bounded& x, double number) {
  const double off = std::fabs(number) * unit_roundoff(format_of(x.dtype));
  const Bounded exact{in_float64(op, {x.value, number}), each(x.error, [&](double e) { return e + off; }), x.dtype};
  return rounded(exact, x.dtype);
}

Bounded fused(const Bounded& x, const Bounded& y, const Bounded& z) {
  const Bounded exact{in_float64(Op::add, {in_float64(Op::multiply, {x.value, y.value}), z.value}),
                      in_float64(Op::add, {product_error(Op::multiply, x, y), z.error}), x.dtype};
  return rounded(exact, x.dtype);
}

// (a + ib)(c + id): two products, each rounded or not, and one sum.
Bounded complex_rotated(const Bounded& x, const Bounded& c, const Bounded& s) {
  const auto part = [&](double first) {
    const auto slice = [&](const Tensor& t) {
      return in_float64(Op::slice, {t, -1.0, first, static_cast<double>(t.shape().back()), 2.0});
    };
    return Bounded{slice(x.value), slice(x.error), x.dtype};
  };
  const Bounded re = part(0), im = part(1);
  const Bounded first = sum(Op::subtract, times(re, c), times(im, s)),
                second = sum(Op::add, times(im, c), times(re, s));
  const auto joined = [&](const Tensor& a, const Tensor& b) {
    Shape shape = x.value.shape();
    std::vector<Argument> sizes{in_float64(Op::stack, {-1.0, a, b})};
    for (const std::int64_t n : shape) sizes.emplace_back(static_cast<double>(n));
    return in_float64(Op::reshape, sizes);
  };
  return {joined(first.value, second.value), joined(first.error, second.error), x.dtype};
}

Bounded largest(const Bounded& x) {
  const std::int64_t n = x.value.shape().back();
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

Bounded exactly(const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return {tensor, {}, tensor.dtype()};
  Tensor value(DType::float64, tensor.shape());
  to_doubles(tensor, value.as<double>());
  return {value, zeros_like(value), tensor.dtype()};
}

}  // namespace ropewalk
