#include "harness/recipes/whole_run.hpp"

#include <algorithm>

#include "harness/cases/inputs.hpp"
#include "harness/recipes/lora_lists.hpp"
#include "harness/recipes/words.hpp"

namespace ropewalk {
namespace {

// Products summed for each element of the result.
std::int64_t inner_length(Op op, const std::vector<Argument>& in) {
  if (!sums_products(op) || op >= Op::sum) return 1;
  return std::get<Tensor>(in[0]).shape().back();
}

std::int64_t bytes_of_tensor(const Tensor& tensor) {
  return tensor.size() * static_cast<std::int64_t>(bytes_of(tensor.dtype()));
}

void count(const Step& step, const std::vector<Argument>& in, const Tensor& result, Work& work) {
  bool shares = false;
  std::int64_t read = 0;
  for (const Argument& argument : in) {
    const auto* tensor = std::get_if<Tensor>(&argument);
    if (!tensor) continue;
    read += bytes_of_tensor(*tensor);
    shares = shares || (!result.empty() && tensor->memory() == result.memory());
  }
  if (!moves_elements(step.op)) work.operations += result.size() * inner_length(step.op, in);
  if (!shares || writes_in_place(step.op)) work.bytes += read + bytes_of_tensor(result);
  work.tensors += !shares;
}

class Runner {
 public:
  Runner(std::shared_ptr<Device> device, const Case& problem, Axes axes)
      : device_(std::move(device)),
        cpu_(make_device("cpu")),
        problem_(problem),
        axes_(axes == Axes::one ? 1 : problem.rope.axes()) {}

  Tensor stage(const StageSteps& stage, Values& values, Work& work) const {
    Tensor result;
    for (const Step& step : stage.steps) {
      if (!holds(step.when, problem_)) continue;
      result = run(step, result, values, work);
      if (!step.as.empty()) values[step.as] = result;
    }
    return result;
  }

 private:
  Tensor run(const Step& step, const Tensor& previous, const Values& values, Work& work) const {
    std::vector<Argument> in = operands(step, previous, values, problem_);
    const DType dtype = step_dtype(step, values, problem_.dtype);
    Device& where = *(step.place == Place::device ? device_ : cpu_);
    Tensor result;
    if (is_lora_list(step.op))
      result = lora_list(step.op, in, *problem_.lora);
    else if (step.op == Op::positions)
      result = position_numbers(where, dtype);
    else
      result = run_on(where, step, in, dtype);
    count(step, in, result, work);
    if (step.place == Place::meta) return {result.dtype(), result.shape(), std::shared_ptr<std::byte>()};
    return result;
  }

  Tensor position_numbers(Device& where, DType dtype) const {
    const Positions& positions = problem_.positions;
    Tensor column(DType::int64, {positions.count() * axes_, 1});  // all axes of a row, then those of the next
    const auto numbers = column.as<std::int64_t>();
    for (std::int64_t i = 0; i < std::ssize(numbers); ++i) numbers[i] = positions.at(i / axes_, i % axes_);
    if (bytes_of(dtype) == 2) return gathered(arange_to(where, positions.largest(), dtype), column);
    return where.apply(Op::positions, std::vector<Argument>{column}, dtype);
  }

  std::shared_ptr<Device> device_, cpu_;
  const Case& problem_;
  std::int64_t axes_;
};

// Every stage that a step reads and that is not there takes the step's stage with it.
std::string lacking(const StageSteps& stage, const std::map<std::string, std::string>& failed) {
  for (const Step& step : stage.steps)
    for (const Operand& operand : step.in)
      if (const auto* name = std::get_if<std::string>(&operand); name && failed.contains(*name))
        return failed.at(*name);
  return {};
}

// With the names that its steps would have given.
void fail(const StageSteps& stage, const std::string& why, WholeRun& run) {
  run.failed[stage.stage] = why;
  for (const Step& step : stage.steps)
    if (!step.as.empty() && !run.values.contains(step.as)) run.failed[step.as] = why;
}

void note_sharing(const std::string& stage, WholeRun& run) {
  const Tensor& made = run.values.at(stage);
  if (made.empty()) return;
  if (!made.dense()) run.notes.push_back(stage + " is not contiguous");
  for (const auto& [name, tensor] : run.values)
    if (name != stage && !tensor.empty() && tensor.memory() == made.memory())
      run.notes.push_back(stage + " shares its elements with " + name);
}

}  // namespace

WholeRun run_whole(const Recipe& recipe, const std::shared_ptr<Device>& device, const Case& problem, Values inputs,
                   bool module_cast) {
  need_scaling(recipe, problem);
  if (recipe.kind == Kind::attention) need_axes(recipe, problem);
  const Runner runner(device, problem, recipe.axes);
  WholeRun out;
  out.values = std::move(inputs);
  add_lists(problem, out.values);
  for (const StageSteps& stage : recipe.stages) {
    if (const std::string why = lacking(stage, out.failed); !why.empty()) {
      fail(stage, why, out);
      continue;
    }
    try {
      if (made_by_kernel(recipe, *device, stage.stage)) {
        if (!out.values.contains(stage.stage)) out.values.merge(device->kernel(recipe.kernel, out.values, problem));
        continue;
      }
      Tensor result = runner.stage(stage, out.values, out.work[stage.stage]);
      const bool buffer = std::find(recipe.buffers.begin(), recipe.buffers.end(), stage.stage) != recipe.buffers.end();
      if (module_cast && buffer) result = device->apply(Op::cast, std::vector<Argument>{result}, problem.dtype);
      out.values[stage.stage] = result;
      note_sharing(stage.stage, out);
    } catch (const Refused&) {
      throw;
    } catch (const std::runtime_error& e) {
      fail(stage, e.what(), out);
    }
  }
  return out;
}

Tensor run_stage_again(const Recipe& recipe, const StageSteps& stage, Device& device, const Case& problem,
                       Values values) {
  Work work;
  const std::shared_ptr<Device> borrowed(&device, [](Device*) {});
  return Runner(borrowed, problem, recipe.axes).stage(stage, values, work);
}

}  // namespace ropewalk
