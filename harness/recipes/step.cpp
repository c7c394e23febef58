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

// x, x r, (x r) r, ...: IEEE multiplication in float32, so the same on every device. x [] or [rows, 1].
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

}  // namespace

void add_lists(const Case& problem, Values& values) {
  for (const auto& [name, list] : lists_of(problem))
    values[name] = from_doubles(DType::float64, {static_cast<std::int64_t>(list->size())}, *list);
}

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
  if (step.op == Op::running_product)
    return running_product(std::get<Tensor>(in[0]), in[1], static_cast<std::int64_t>(std::get<double>(in[2])));
  return device.apply(step.op, in, dtype);
}

}  // namespace ropewalk
