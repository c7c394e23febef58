#include <algorithm>
#include <chrono>

#include "harness/cases/state.hpp"
#include "harness/recipes/run.hpp"
#include "harness/recipes/state.hpp"
#include "harness/recipes/whole_run.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

// Of positions: [rows] or [rows, axes].
Shape by_axis(std::int64_t numbers, std::int64_t axes) {
  return axes == 1 ? Shape{numbers} : Shape{numbers / axes, axes};
}

class RecipeSubject final : public Subject {
 public:
  explicit RecipeSubject(const SubjectSpec& spec)
      : spec_(spec), recipe_(find_recipe(spec.recipe)), device_(make_device(spec.device)) {}

  void prepare(const Case& problem) override {
    if (const std::string reason = device_->missing(); !reason.empty()) throw SubjectUnsupported(reason);
    if (recipe_.kind != problem.kind())
      throw SubjectUnsupported("a recipe of kind " + std::string(name_of(recipe_.kind)) + " in a case of kind " +
                               std::string(name_of(problem.kind())));
    if (device_->runs_kernels() && recipe_.kernel.empty())
      throw SubjectUnsupported("the recipe " + recipe_.name + " names no kernel");
    if (problem.kind() != Kind::table) return;
    dtype_ = problem.dtype;
    calls_ = calls_of(problem);
    served_ = {{problem.rope.scaling.length, true}};
    if (problem.state) served_ = served(recipe_, problem, spec_.module_cast == ModuleCast::after_build);
    start(0);
  }

  Stages rows(std::int64_t first, std::int64_t count) override {
    const auto [call, row] = place_in(calls_, first);
    if (call != call_) start(call);
    const std::int64_t axes = calls_[call].rope.axes();
    std::vector<std::int64_t> block;
    block.reserve(static_cast<std::size_t>(count * axes));
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t axis = 0; axis < axes; ++axis) block.push_back(calls_[call].positions.at(row + i, axis));
    try {
      Stages stages = run_->rows(block);
      if (spec_.module_cast == ModuleCast::after_build && served_[call].first_table)  // the table is a buffer too
        for (const char* stage : {"cos", "sin"})
          stages[stage] = device_->apply(Op::cast, std::vector<Argument>{stages[stage]}, dtype_);
      return stages;
    } catch (const Refused& e) {
      throw SubjectUnsupported(e.what());
    }
  }

  Whole whole(const Case& problem, const Stages& inputs) override {
    Stages own;  // copies: a recipe that writes into its inputs changes these
    for (const auto& [name, tensor] : inputs) own[name] = copy_of(tensor);
    WholeRun run = run_whole(recipe_, device_, problem, own, spec_.module_cast != ModuleCast::none);
    Whole out{{}, run.failed, run.work, run.notes, {}, {}};
    for (const StageSteps& stage : recipe_.stages)
      if (const auto found = run.values.find(stage.stage); found != run.values.end()) out.stages.insert(*found);
    if (const auto column = out.stages.find("positions"); column != out.stages.end())
      column->second = column->second.reshaped(by_axis(column->second.size(), problem.rope.axes()));
    for (const auto& [name, tensor] : inputs)
      if (!same_bits(own.at(name), tensor)) out.changed_inputs.push_back(name);
    problem_ = &problem;
    values_ = std::move(run.values);
    return out;
  }

  std::optional<double> time_stage(const std::string& stage) override {
    const StageSteps* steps = recipe_.stage(stage);
    if (!steps || !problem_ || !values_.contains(stage) || made_by_kernel(recipe_, *device_, stage)) return {};
    const auto start = std::chrono::steady_clock::now();
    run_stage_again(recipe_, *steps, *device_, *problem_, values_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  SubjectInfo info() const override {
    SubjectInfo info;
    info.name = spec_.name;
    info.recipe = spec_.recipe;
    info.device = spec_.device;
    info.claims = !spec_.claims.empty() ? spec_.claims : recipe_.is_fault() ? recipe_.parent : recipe_.name;
    info.emulated = device_->emulated();
    info.module_cast = spec_.module_cast;
    return info;
  }

  std::int64_t undetermined() const override { return device_->undetermined(); }

 private:
  void start(std::size_t call) {
    call_ = call;
    Case problem = calls_[call];
    problem.rope.scaling.length = served_[call].length;
    try {
      const bool cast = spec_.module_cast != ModuleCast::none && served_[call].of_buffers;
      run_ = std::make_unique<RecipeRun>(recipe_, device_, problem, cast);
    } catch (const Refused& e) {
      throw SubjectUnsupported(e.what());
    }
  }

  SubjectSpec spec_;
  Recipe recipe_;
  std::shared_ptr<Device> device_;
  DType dtype_ = DType::float32;
  std::vector<Case> calls_;
  std::vector<Served> served_;  // in each of them
  std::size_t call_ = 0;
  std::unique_ptr<RecipeRun> run_;  // of this call
  const Case* problem_ = nullptr;   // of the last whole problem
  Values values_;
};

}  // namespace

std::unique_ptr<Subject> make_recipe_subject(const SubjectSpec& spec) { return std::make_unique<RecipeSubject>(spec); }

}  // namespace ropewalk
