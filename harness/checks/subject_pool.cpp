#include "harness/checks/subject_pool.hpp"

#include <filesystem>

namespace ropewalk {
namespace {

std::string key(const SubjectSpec& spec) {
  std::string text = spec.name;
  for (const std::string& word : spec.program) text += '\0' + word;
  return text;
}

}  // namespace

std::unique_ptr<Subject> SubjectPool::take(const SubjectSpec& spec, const Case& problem) {
  if (!spec.recipe.empty()) return make_recipe_subject(spec);
  if (!spec.tensors.empty()) return make_tensor_file_subject(spec);
  {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[key(spec)];
    if (!idle.empty()) {
      auto subject = std::move(idle.back());
      idle.pop_back();
      return subject;
    }
  }
  const auto folder = std::filesystem::absolute(problem.file).parent_path();
  return make_program_subject(spec, folder);
}

void SubjectPool::give_back(const SubjectSpec& spec, std::unique_ptr<Subject> subject) {
  if (spec.program.empty()) return;
  const std::lock_guard lock(mutex_);
  idle_[key(spec)].push_back(std::move(subject));
}

}  // namespace ropewalk
