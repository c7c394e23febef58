#include <algorithm>
#include <chrono>

#include "harness/recipes/run.hpp"
#include "harness/recipes/whole_run.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

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
    positions_ = problem.positions;
    axes_ = problem.rope.axes();
    try {
      run_ = std::make_unique<RecipeRun>(recipe_, device_, problem, spec_.module_cast);
    } catch (const Refused& e) {
      throw SubjectUnsupported(e.what());
    }
  }

  Stages rows(std::int64_t first, std::int64_t count) override {
    std::vector<std::int64_t> block;
    block.reserve(static_cast<std::size_t>(count * axes_));
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t axis = 0; axis < axes_; ++axis) block.push_back(positions_.at(first + i, axis));
    try {
      return run_->rows(block);
    } catch (const Refused& e) {
      throw SubjectUnsupported(e.what());
    }
  }

  Whole whole(const Case& problem, const Stages& inputs) override {
    Stages own;  // copies: a recipe that writes into its inputs changes these
    for (const auto& [name, tensor] : inputs) own[name] = copy_of(tensor);
    WholeRun run = run_whole(recipe_, device_, problem, own, spec_.module_cast);
    Whole out{{}, run.failed, run.work, run.notes, {}, {}};
    for (const StageSteps& stage : recipe_.stages)
      if (const auto found = run.values.find(stage.stage); found != run.values.end()) out.stages.insert(*found);
    if (const auto column = out.stages.find("positions"); column != out.stages.end())
      column->second = column->second.reshaped({column->second.size()});
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
    run_stage_again(*steps, *device_, *problem_, values_);
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
  SubjectSpec spec_;
  Recipe recipe_;
  std::shared_ptr<Device> device_;
  Positions positions_;
  std::int64_t axes_ = 1;
  std::unique_ptr<RecipeRun> run_;
  const Case* problem_ = nullptr;  // of the last whole problem
  Values values_;
};

}  // namespace

std::unique_ptr<Subject> make_recipe_subject(const SubjectSpec& spec) { return std::make_unique<RecipeSubject>(spec); }

}  // namespace ropewalk
