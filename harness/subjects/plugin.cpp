// A plug-in as a subject: the program that loads it (harness/plugin_host) lies beside this one.
#include "harness/subjects/subject.hpp"

namespace ropewalk {

std::unique_ptr<Subject> make_plugin_subject(const SubjectSpec& spec, const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  SubjectSpec program = spec;
  // With slashes in both: they must not be looked for along some path.
  program.program = {(here / "ropewalk-plugin-host").string(), std::filesystem::absolute(spec.plugin).string()};
  return make_program_subject(program, folder);
}

}  // namespace ropewalk
