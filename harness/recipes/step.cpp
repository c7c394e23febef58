#include "harness/recipes/step.hpp"

#include <algorithm>

#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

// x with all but its first `bits` significand bits cut: a change of bits, so the same on every device.
Tensor keep_bits(const Tensor& x, int bits) {
  if (x.dtype() != DType::float32) throw Refused("keep_bits works on float32");
  Tensor out(DType::float32, x.shape());
  const auto from = x.as<std::uint32_t>();
  std::transform(from.begin(), from.end(), out.as<std::uint32_t>().begin(),
                 [mask = ~0U << (24 - bits)](std::uint32_t v) { return v & mask; });
  return out;
}

}  // namespace

std::vector<Argument> operands(const Step& step, const Tensor& previous, const Values& values, const Case& problem) {
  std::vector<Argument> in;
  for (const Operand& operand : step.in) {
    const auto* name = std::get_if<std::string>(&operand);
    if (!name)
      in.emplace_back(std::get<double>(operand));
    else if (*name == "previous")
      in.emplace_back(previous);
    else if (const auto found = values.find(*name); found != values.end())
      in.emplace_back(found->second);
    else
      in.emplace_back(parameter(*name, problem));
  }
  return in;
}

DType step_dtype(const Step& step, const Values& values, DType activation) {
  return step_dtype(step, values, activation, [](const Tensor& tensor) { return tensor.dtype(); });
}

Tensor arange_to(Device& where, std::int64_t largest, DType dtype) {
  return where.apply(Op::arange, std::vector<Argument>{0.0, static_cast<double>(largest + 1), 1.0}, dtype);
}

Tensor gathered(const Tensor& table, const Tensor& indices) {
  Tensor out(table.dtype(), indices.shape());
  const auto from = table.as<std::uint16_t>();
  const auto at = indices.as<std::int64_t>();
  std::transform(at.begin(), at.end(), out.as<std::uint16_t>().begin(),
                 [&](std::int64_t i) { return from[static_cast<std::size_t>(i)]; });
  return out;
}

Tensor run_on(Device& device, const Step& step, const std::vector<Argument>& in, DType dtype) {
  if (step.op == Op::keep_bits) return keep_bits(std::get<Tensor>(in[0]), static_cast<int>(std::get<double>(in[1])));
  return device.apply(step.op, in, dtype);
}

}  // namespace ropewalk
