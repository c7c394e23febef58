#include <numeric>

#include "harness/recipes/run.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

class RecipeSubject final : public Subject {
 public:
  explicit RecipeSubject(const SubjectSpec& spec)
      : spec_(spec), recipe_(find_recipe(spec.recipe)), device_(make_device(spec.device)) {}

  void prepare(const Case& problem) override {
    if (const std::string reason = device_->missing(); !reason.empty()) throw SubjectUnsupported(reason);
    positions_ = problem.positions;
    try {
      run_ = std::make_unique<RecipeRun>(recipe_, device_, problem, spec_.module_cast);
    } catch (const Refused& e) {
      throw SubjectUnsupported(e.what());
    }
  }

  Stages rows(std::int64_t first, std::int64_t count) override {
    std::vector<std::int64_t> block(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) block[i] = positions_.at(first + i);
    try {
      return run_->rows(block);
    } catch (const Refused& e) {
      throw SubjectUnsupported(e.what());
    }
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
  std::unique_ptr<RecipeRun> run_;
};

}  // namespace

std::unique_ptr<Subject> make_recipe_subject(const SubjectSpec& spec) { return std::make_unique<RecipeSubject>(spec); }

}  // namespace ropewalk
