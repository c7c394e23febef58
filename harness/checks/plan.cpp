#include "harness/checks/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ropewalk {
namespace {

const std::vector<std::string> kTable{"cos", "sin"};

std::size_t index_of(const Case& problem, const std::string& name) {
  const auto found = std::find_if(problem.subjects.begin(), problem.subjects.end(),
                                  [&](const SubjectSpec& s) { return s.name == name; });
  return static_cast<std::size_t>(found - problem.subjects.begin());
}

}  // namespace

std::vector<Planned> plan(const Case& problem) {
  std::vector<Planned> planned;
  for (std::size_t c = 0; c < problem.checks.size(); ++c) {
    const CheckSpec& check = problem.checks[c];
    std::vector<std::vector<std::size_t>> who;
    if (takes_two(check.relation))
      who.push_back({index_of(problem, check.between[0]), index_of(problem, check.between[1])});
    for (std::size_t s = 0; s < problem.subjects.size() && !takes_two(check.relation); ++s) {
      const auto& names = check.subjects;
      if (names.empty() || std::find(names.begin(), names.end(), problem.subjects[s].name) != names.end())
        who.push_back({s});
    }
    for (const auto& subjects : who) {
      std::string names = problem.subjects[subjects[0]].name;
      if (subjects.size() == 2) names += "~" + problem.subjects[subjects[1]].name;
      const SubjectSpec& first = problem.subjects[subjects[0]];
      const bool outsider = problem.kind() == Kind::table && !takes_two(check.relation) && first.recipe.empty() &&
                            first.recording.empty();
      const auto& stages = check.default_stages && outsider ? kTable : check.stages;
      for (const std::string& stage : stages)
        planned.push_back(
            {c, subjects, stage, fmt::format("{}/{}/{}/{}", problem.id, name_of(check.relation), names, stage)});
    }
  }
  return planned;
}

}  // namespace ropewalk
