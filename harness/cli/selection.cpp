#include "harness/cli/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/recordings/recording.hpp"
#include "harness/report/accepted.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

using Recordings = std::map<std::filesystem::path, std::unique_ptr<Recording>>;

// Known names are checked once; a case file is no place to find out half-way.
void check_names(const Case& problem, std::set<std::string>& known, Recordings& recordings) {
  const auto names = device_names();
  const auto check_recipe = [&](const std::string& recipe, const std::string& field) {
    const std::string kind(name_of(problem.kind()));
    if (recipe.empty() || !known.insert(kind + " recipe " + recipe).second) return;
    Kind found{};
    try {
      found = find_recipe(recipe).kind;
    } catch (const BadInput& e) {
      throw BadInput(problem.file, field, "", e.what());
    }
    if (found != problem.kind())
      throw BadInput(problem.file, field, recipe,
                     fmt::format("a recipe of kind {} in a case of kind {}", name_of(found), kind));
  };
  for (const CheckSpec& check : problem.checks)
    if (!check.accepted.empty() && known.insert("accepted " + check.accepted.string()).second)
      read_accepted(check.accepted);  // throws BadInput
  for (const SubjectSpec& subject : problem.subjects) {
    const std::string where = fmt::format("case {}, subject {}", problem.name, subject.name);
    check_recipe(subject.recipe, where + ", recipe");
    check_recipe(subject.claims, where + ", claims");
    if (!subject.tensors.empty() && known.insert("tensors " + subject.tensors.string()).second)
      make_tensor_file_subject(subject);  // throws BadInput for a file that cannot be read
    if (!subject.recording.empty()) {
      auto& recording = recordings[subject.recording];
      if (!recording) recording = std::make_unique<Recording>(subject.recording);
      recording->need(problem, subject.recorded, subject.module_cast != ModuleCast::none, where + ", recording");
    }
    if (!subject.device.empty() && std::find(names.begin(), names.end(), subject.device) == names.end())
      throw BadInput(problem.file, where + ", device", subject.device,
                     fmt::format("one of {}", fmt::join(names, ", ")));
  }
}

// The same subject again, and a check that it gives the same bits.
void add_repeats(Case& problem, int repeat) {
  const std::size_t originals = problem.subjects.size();
  for (int r = 2; r <= repeat; ++r) {
    for (std::size_t s = 0; s < originals; ++s) {
      SubjectSpec again = problem.subjects[s];
      again.name += fmt::format("#{}", r);
      CheckSpec check;
      check.relation = Relation::identity;
      const bool table = problem.kind() == Kind::table;
      check.stages = table ? std::vector<std::string>{"cos", "sin"} : std::vector<std::string>{"output"};
      check.between = {problem.subjects[s].name, again.name};
      problem.subjects.push_back(again);
      problem.checks.push_back(check);
    }
  }
  // Checks over all subjects mean the originals.
  for (CheckSpec& check : problem.checks)
    if (!takes_two(check.relation) && check.subjects.empty())
      for (std::size_t s = 0; s < originals; ++s) check.subjects.push_back(problem.subjects[s].name);
}

std::pair<std::size_t, std::size_t> parse_shard(const std::string& text) {
  std::size_t index = 0, count = 1;
  const char* end = text.data() + text.size();
  const auto [slash, error] = std::from_chars(text.data(), end, index);
  const bool shaped = error == std::errc() && slash != end && *slash == '/';
  const auto [last, error2] =
      shaped ? std::from_chars(slash + 1, end, count) : std::from_chars_result{end, std::errc::invalid_argument};
  if (error2 != std::errc() || last != end || index < 1 || index > count)
    throw BadInput("--shard", "", text, "I/N with 1 <= I <= N, such as 1/4");
  return {index - 1, count};
}

std::regex parse_filter(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& e) {
    throw BadInput("--filter", "", text, std::string("a regular expression (ECMAScript): ") + e.what());
  }
}

}  // namespace

void add_selection(CLI::App& command, Selection& selection) {
  command.add_option("CASE_FILE", selection.files, "Case files")->required();
  command.add_option("--filter", selection.filter, "Only results whose id this regular expression finds");
  command.add_option("--device", selection.devices, "Only results of subjects on this device (repeatable)")
      ->allow_extra_args(false);
  command.add_option("--shard", selection.shard, "I/N: only every N-th cell, from the I-th on");
  command.add_option("--repeat", selection.repeat, "Run each subject N times and check that the bits are the same")
      ->check(CLI::Range(1, 100));
}

std::vector<Cell> select(const Selection& selection) {
  const auto [shard, shards] = parse_shard(selection.shard);
  const std::regex filter = parse_filter(selection.filter);
  for (const std::string& device : selection.devices) make_device(device);  // throws for an unknown one
  const auto on_device = [&](const Case& problem, const Planned& planned) {
    return std::all_of(planned.subjects.begin(), planned.subjects.end(), [&](std::size_t s) {
      const auto& wanted = selection.devices;
      const std::string& device = problem.subjects[s].device;
      return wanted.empty() || device.empty() || std::find(wanted.begin(), wanted.end(), device) != wanted.end();
    });
  };
  std::set<std::string> known, ids;
  Recordings recordings;
  std::vector<Cell> cells;
  std::set<std::pair<std::string, std::int64_t>> partial;  // declared cases of which something is left out
  std::size_t index = 0;
  for (const std::string& file : selection.files) {
    for (Case& problem : read_case_file(file)) {
      check_names(problem, known, recordings);
      if (!ids.insert(problem.id).second) throw BadInput(file, "", problem.id, "an id that no other case file has");
      add_repeats(problem, selection.repeat);
      std::vector<Planned> all = plan(problem);
      const std::size_t before = all.size();
      std::erase_if(all, [&](const Planned& p) {
        return !on_device(problem, p) || (!selection.filter.empty() && !std::regex_search(p.id, filter));
      });
      const bool mine = index++ % shards == shard;
      if (all.size() != before || !mine) partial.emplace(problem.file, problem.declaration);
      if (!all.empty() && mine) cells.push_back({std::move(problem), std::move(all)});
    }
  }
  for (Cell& cell : cells) cell.whole = !partial.contains({cell.problem.file, cell.problem.declaration});
  return cells;
}

}  // namespace ropewalk
