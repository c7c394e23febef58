#include "harness/recipes/reductions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ropewalk {
namespace {

// x with all but its first `bits` significand bits cut.
Tensor keep_bits(const Tensor& x, int bits) {
  if (x.dtype() != DType::float32) throw Refused("keep_bits works on float32");
  Tensor out(DType::float32, x.shape());
  const auto from = x.as<std::uint32_t>();
  std::transform(from.begin(), from.end(), out.as<std::uint32_t>().begin(),
                 [mask = ~0U << (24 - bits)](std::uint32_t v) { return v & mask; });
  return out;
}

// x, x r, (x r) r, ..., in float32. x [] or [rows, 1].
Tensor running_product(const Tensor& x, const Argument& ratio, std::int64_t count) {
  const auto* tensor = std::get_if<Tensor>(&ratio);
  const bool one_ratio = !tensor || (tensor->dtype() == DType::float32 && tensor->size() == 1);
  const bool column = x.shape().empty() || x.shape().back() == 1;
  if (x.dtype() != DType::float32 || !one_ratio || !column)
    throw Refused("running_product works on float32: one number, or one for each row, times one number");
  const float r = tensor ? tensor->as<float>()[0] : static_cast<float>(std::get<double>(ratio));
  Shape shape = x.shape();
  if (shape.empty()) shape.push_back(1);
  shape.back() = count;
  Tensor out(DType::float32, shape);
  const auto first = x.as<float>();
  const auto to = out.as<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(count);
    to[i] = i == row * static_cast<std::size_t>(count) ? first[row] : to[i - 1] * r;
  }
  return out;
}

constexpr double kTurnsPerRadian = 0x1.45f306dc9c883p-3;                              // nearest to 1 / (2 pi)
constexpr double kTurnHigh = 0x1.921fb54442d18p+2, kTurnLow = 0x1.1a62633145c07p-52;  // 2 pi, nearest and the rest

float reduced(Op op, double x) {
  const double turns = x * kTurnsPerRadian, whole = std::nearbyint(turns);
  switch (op) {
    case Op::less_turns: {
      const double coarse = x - whole * kTurnHigh;
      return static_cast<float>(coarse - whole * kTurnLow);
    }
    case Op::less_turns_fma:
      return static_cast<float>(std::fma(-whole, kTurnLow, std::fma(-whole, kTurnHigh, x)));
    case Op::half_turns:
      return static_cast<float>(2 * (turns - whole));
    default:
      return static_cast<float>(2 * std::fma(x, kTurnsPerRadian, -whole));
  }
}

Tensor reduced(Op op, const Tensor& x) {
  if (x.dtype() != DType::float64) throw Refused("an angle is reduced in float64");
  Tensor out(DType::float32, x.shape());
  const auto from = x.as<double>();
  std::transform(from.begin(), from.end(), out.as<float>().begin(), [op](double v) { return reduced(op, v); });
  return out;
}

const Tensor& tensor(std::span<const Argument> in, std::size_t i) {
  const auto* found = std::get_if<Tensor>(&in[i]);
  if (!found) throw Refused("a tensor is needed here, not a number");
  return *found;
}

bool in_half_turns(Op op) { return op == Op::half_turns || op == Op::half_turns_fma; }

}  // namespace

bool is_ieee_sequence(Op op) {
  return op == Op::keep_bits || op == Op::running_product || op == Op::less_turns || op == Op::less_turns_fma ||
         in_half_turns(op);
}

Tensor run_ieee_sequence(Op op, std::span<const Argument> in) {
  if (op == Op::keep_bits) return keep_bits(tensor(in, 0), static_cast<int>(std::get<double>(in[1])));
  if (op == Op::running_product)
    return running_product(tensor(in, 0), in[1], static_cast<std::int64_t>(std::get<double>(in[2])));
  return reduced(op, tensor(in, 0));
}

double argument_error(Op reduction, double largest_angle) {
  // The constant and one or two roundings, relative to the number of turns; then float32 of at most 1, in half turns.
  if (in_half_turns(reduction)) {
    const double turns = largest_angle / (2 * std::numbers::pi);
    return std::numbers::pi * (2 * (turns + 1) * 0x1p-52 + 0x1p-25);
  }
  // n * 2 pi as a product, two differences of at most 4, and float32 of at most 4.
  return (largest_angle + 16) * 0x1p-52 + 0x1p-23;
}

}  // namespace ropewalk
