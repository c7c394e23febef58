#include "harness/recipes/step.hpp"

#include <algorithm>

#include "harness/recipes/axis_lists.hpp"
#include "harness/recipes/kernels.hpp"
#include "harness/recipes/reductions.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {

void add_lists(const Case& problem, Values& values) {
  for (const auto& [name, list] : lists_of(problem))
    values[name] = from_doubles(DType::float64, {static_cast<std::int64_t>(list->size())}, *list);
  if (problem.kind() == Kind::lora) return;
  for (const auto& [name, list] : axis_lists(problem.rope)) {
    Tensor& entries = values[name] = Tensor(DType::int64, {std::ssize(list)});
    std::copy(list.begin(), list.end(), entries.as<std::int64_t>().begin());
  }
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

bool made_by_kernel(const Recipe& recipe, const Device& device, const std::string& stage) {
  const auto made = made_by_kernels(recipe.kind);
  return !recipe.kernel.empty() && device.runs_kernels() && std::find(made.begin(), made.end(), stage) != made.end();
}

Tensor run_on(Device& device, const Step& step, const std::vector<Argument>& in, DType dtype) {
  if (is_ieee_sequence(step.op)) return run_ieee_sequence(step.op, in);
  return device.apply(step.op, in, dtype);
}

}  // namespace ropewalk
