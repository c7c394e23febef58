#include "harness/checks/subject_pool.hpp"

#include <filesystem>

#include "harness/cases/state.hpp"
#include "harness/recordings/recording.hpp"
#include "harness/subjects/variant.hpp"

namespace ropewalk {
namespace {

std::filesystem::path folder_of(const Case& problem) { return std::filesystem::absolute(problem.file).parent_path(); }

bool kept(const SubjectSpec& spec) { return !spec.program.empty() || !spec.plugin.empty(); }

// All that a program subject is made from.
std::string key(const SubjectSpec& spec, const Case& problem) {
  std::string text =
      folder_of(problem).string() + '\0' + spec.name + '\0' + spec.claims + '\0' + std::to_string(spec.timeout_s);
  text += '\0' + spec.variant + '\0' + spec.plugin.string();
  for (const std::string& word : spec.program) text += '\0' + word;
  return text;
}

}  // namespace

std::unique_ptr<Subject> SubjectPool::take(const SubjectSpec& spec, const Case& problem) {
  if (kept(spec)) {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[key(spec, problem)];
    if (!idle.empty()) {
      auto subject = std::move(idle.back());
      idle.pop_back();
      return subject;
    }
  }
  if (!spec.variant.empty() && spec.variant != kRecomputed) {
    SubjectSpec plain = spec;
    plain.variant.clear();
    return make_variant_subject(spec.variant, take(plain, problem));
  }
  if (!spec.recipe.empty()) return make_recipe_subject(spec);
  if (!spec.recording.empty()) return make_recording_subject(spec, recording(spec.recording));
  if (!spec.tensors.empty()) return make_tensor_file_subject(spec);
  if (!spec.plugin.empty()) return make_plugin_subject(spec, folder_of(problem));
  return make_program_subject(spec, folder_of(problem));
}

std::shared_ptr<const Recording> SubjectPool::recording(const std::filesystem::path& folder) {
  const std::lock_guard lock(mutex_);
  auto& known = recordings_[folder];
  if (!known) known = std::make_shared<const Recording>(folder);
  return known;
}

void SubjectPool::give_back(const SubjectSpec& spec, const Case& problem, std::unique_ptr<Subject> subject) {
  if (!kept(spec)) return;
  const std::lock_guard lock(mutex_);
  idle_[key(spec, problem)].push_back(std::move(subject));
}

}  // namespace ropewalk
