// Bounds of softmax and of its gradient.
#include <algorithm>
#include <cmath>

#include "harness/cases/inputs.hpp"
#include "harness/recipes/bounded.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::unit_roundoff;

}  // namespace

// Logits off by d change a weight by a factor within exp(2 d). Then x - max is rounded, exp is good to 20 ulp
// (LibTorch's exp_u20 for the CPU; CUDA's expf is closer), n terms are summed and one quotient is taken. Logits that
// lie 800 below the largest have no weight, however far off they are (a finite mask's). A row that sees no key is
// what the case's convention makes of it, to the last bit where the least number absorbs what it is added to.
Bounded softmax(const Bounded& x, double axis, double lambda) {
  Tensor value = copy_of(in_float64(Op::softmax, {x.value, axis}));
  const auto n = static_cast<std::size_t>(x.value.shape().back());
  const Format format = x.dtype == DType::float64 ? Format::float64 : Format::float32;
  const double u = unit_roundoff(format), sums = (roundings_of(static_cast<double>(n), lambda) + 42) * u;
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
  return {value, error, x.dtype == DType::float64 ? DType::float64 : DType::float32};
}

// p (g - sum of g p): the sum in any order, one difference, one product.
Bounded softmax_backward(const Bounded& g, const Bounded& p, double lambda) {
  const Bounded products = times(g, p);
  const double n = roundings_of(static_cast<double>(products.value.shape().back()), lambda);
  Bounded total{in_float64(Op::sum, {products.value, -1.0}), in_float64(Op::sum, {products.error, -1.0}), g.dtype};
  Shape shape = products.value.shape();
  shape.back() = 1;
  const Tensor magnitudes = in_float64(Op::sum, {magnitude(products), -1.0});
  total.error = each(total.error, magnitudes, [&](double e, double m) {
    const double u = unit_roundoff(g.dtype == DType::float64 ? Format::float64 : Format::float32);
    return e + n * u / (1 - n * u) * m;
  });
  total.value = total.value.reshaped(shape);
  total.error = total.error.reshaped(shape);
  return times(p, sum(Op::subtract, g, total));
}

}  // namespace ropewalk
