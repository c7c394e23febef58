// Operations on values with bounds of their errors, as devices round them; only for this folder.
#pragma once

#include <vector>

#include "harness/recipes/bounds.hpp"

namespace ropewalk {

Tensor in_float64(Op op, const std::vector<Argument>& in);  // on the CPU
Tensor zeros_like(const Tensor& x);                         // in float64

// f of every element, and of elements side by side.
template <class F>
Tensor each(const Tensor& x, F f) {
  Tensor out(DType::float64, x.shape());
  const auto from = x.as<double>();
  const auto to = out.as<double>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(from[i]);
  return out;
}
template <class F>
Tensor each(const Tensor& x, const Tensor& y, F f) {
  Tensor out(DType::float64, x.shape());
  const auto a = x.as<double>(), b = y.as<double>();
  const auto to = out.as<double>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = f(a[i], b[i]);
  return out;
}

Tensor magnitude(const Bounded& x);  // |value| + error
DType promoted(DType a, DType b);
// A sum of so many terms; with `lambda` above 0 the probabilistic count of bounds.hpp.
double roundings_of(double terms, double lambda);

// What so many operations in this dtype make of a result. Kernels of the half formats compute in float32 and round
// once more at the end.
Bounded rounded(Bounded x, DType dtype, double operations = 1);
Bounded cast(Bounded x, DType dtype);

// Of op, linear in both operands: |xy - x'y'| <= |x| ey + ex |y| with |x|, |y| grown by their own errors.
Tensor product_error(Op op, const Bounded& x, const Bounded& y, const std::vector<Argument>& rest = {});
Bounded times(const Bounded& x, const Bounded& y);
Bounded times(const Bounded& x, double number);
Bounded divided(const Bounded& x, double number, bool by_reciprocal);
Bounded sum(Op op, const Bounded& x, const Bounded& y);  // op: add, subtract
Bounded sum(Op op, const Bounded& x, double number);
Bounded fused(const Bounded& x, const Bounded& y, const Bounded& z);
Bounded complex_rotated(const Bounded& x, const Bounded& c, const Bounded& s);
Bounded largest(const Bounded& x);  // along the last axis, which stays, with size 1

Bounded softmax(const Bounded& x, double axis, double lambda);  // in float32, or in float64
Bounded softmax_backward(const Bounded& g, const Bounded& p, double lambda);

}  // namespace ropewalk
