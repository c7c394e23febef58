#include "harness/recipes/run.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "harness/recipes/step.hpp"
#include "harness/recipes/words.hpp"
#include "harness/tensors/blocks.hpp"

namespace ropewalk {
namespace {

bool needs_positions(const StageSteps& stage, const std::set<std::string>& row_names) {
  return std::any_of(stage.steps.begin(), stage.steps.end(), [&](const Step& step) {
    return step.op == Op::positions || std::any_of(step.in.begin(), step.in.end(), [&](const Operand& operand) {
             const auto* name = std::get_if<std::string>(&operand);
             return name && row_names.contains(*name);
           });
  });
}

// [rows] of one axis, else [rows, axes].
Tensor by_axis(const Tensor& column, std::int64_t rows, std::int64_t axes) {
  if (axes == 1) return column.reshaped({rows});
  if (column.size() == rows * axes) return column.reshaped({rows, axes});
  const auto one = to_doubles(column);
  const auto all = each_block_repeated(std::span<const double>(one), 1, static_cast<std::size_t>(axes));
  return from_doubles(column.dtype(), {rows, axes}, all);
}

}  // namespace

RecipeRun::RecipeRun(Recipe recipe, std::shared_ptr<Device> device, const Case& problem, bool module_cast)
    : recipe_(std::move(recipe)),
      device_(std::move(device)),
      cpu_(make_device("cpu")),
      problem_(problem),
      module_cast_(module_cast) {
  need_scaling(recipe_, problem_);
  need_axes(recipe_, problem_);
  add_lists(problem_, once_);
  std::set<std::string> row_names;
  for (const StageSteps& stage : recipe_.stages) {
    if (needs_positions(stage, row_names)) {
      row_names.insert(stage.stage);
      for (const Step& step : stage.steps)
        if (!step.as.empty()) row_names.insert(step.as);
      by_rows_.push_back(&stage);
    } else {
      run_stage(stage, {}, once_);
    }
  }
}

std::map<std::string, Tensor> RecipeRun::rows(std::span<const std::int64_t> positions) const {
  const std::int64_t axes = problem_.rope.axes(), rows = std::ssize(positions) / axes;
  const std::int64_t step = recipe_.axes == Axes::one ? axes : 1;  // of one axis, where all are alike
  Tensor column(DType::int64, {std::ssize(positions) / step, 1});
  const auto numbers = column.as<std::int64_t>();
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = positions[i * static_cast<std::size_t>(step)];
  Values values = once_;
  for (const StageSteps* stage : by_rows_) run_stage(*stage, column, values);
  values["positions"] = by_axis(values.at("positions"), rows, axes);
  const auto stages = stages_of(Kind::table);
  std::erase_if(
      values, [&](const auto& entry) { return std::find(stages.begin(), stages.end(), entry.first) == stages.end(); });
  return values;
}

void RecipeRun::run_stage(const StageSteps& stage, const Tensor& positions, Values& values) const {
  if (made_by_kernel(recipe_, *device_, stage.stage)) {
    if (!values.contains(stage.stage)) values.merge(device_->kernel(recipe_.kernel, values, problem_));
    return;
  }
  Tensor result;
  for (const Step& step : stage.steps) {
    if (!holds(step.when, problem_)) continue;
    result = run_step(step, result, positions, values);
    if (!step.as.empty()) values[step.as] = result;
  }
  const auto& buffers = recipe_.buffers;
  if (module_cast_ && std::find(buffers.begin(), buffers.end(), stage.stage) != buffers.end())
    result = device_->apply(Op::cast, std::vector<Argument>{result}, problem_.dtype);
  values[stage.stage] = result;
}

Tensor RecipeRun::run_step(const Step& step, const Tensor& previous, const Tensor& positions,
                           const Values& values) const {
  Device& where = *(step.place == Place::cpu ? cpu_ : device_);
  if (step.op == Op::positions) return position_numbers(where, positions, step_dtype(step, values, problem_.dtype));
  return run_on(where, step, operands(step, previous, values, problem_), step_dtype(step, values, problem_.dtype));
}

Tensor RecipeRun::position_numbers(Device& where, const Tensor& positions, DType dtype) const {
  if (bytes_of(dtype) != 2) return where.apply(Op::positions, std::vector<Argument>{positions}, dtype);
  Tensor& table = position_tables_[{&where, dtype}];
  if (table.empty()) table = arange_to(where, problem_.positions.largest(), dtype);
  return gathered(table, positions);
}

}  // namespace ropewalk
