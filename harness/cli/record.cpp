#include <fmt/format.h>

#include <memory>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/cases/inputs.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/environment.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/recordings/recording.hpp"
#include "harness/report/json.hpp"
#include "harness/report/progress.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {
namespace {

struct Options {
  std::string file, device, out, against;
  std::uint64_t seed = 0;
  bool quiet = false;
};

// Every recipe of the case once, whatever device it is declared on; variants of a problem are no problems of their own.
std::vector<SubjectSpec> recipes_of(const Case& problem, const std::string& device) {
  std::vector<SubjectSpec> out;
  std::set<std::pair<std::string, bool>> seen;
  for (SubjectSpec spec : problem.subjects) {
    const bool cast = spec.module_cast != ModuleCast::none;
    if (spec.recipe.empty() || !spec.variant.empty() || !seen.emplace(spec.recipe, cast).second) continue;
    find_recipe(spec.recipe);  // throws BadInput
    spec.device = device;
    out.push_back(std::move(spec));
  }
  return out;
}

RecordedRun record(const SubjectSpec& spec, const Case& problem) {
  RecordedRun run{spec.recipe, spec.module_cast != ModuleCast::none, {}, {}, {}, 0};
  const auto subject = make_recipe_subject(spec);
  try {
    subject->prepare(problem);
    if (problem.kind() == Kind::table) {
      run.stages = subject->rows(0, problem.positions.count());
    } else {
      Whole whole = subject->whole(problem, make_inputs(problem));
      run.stages = std::move(whole.stages);
      run.failed = std::move(whole.failed);
    }
    std::erase_if(run.stages, [](const auto& stage) { return stage.second.empty(); });
    run.undetermined = subject->undetermined();
  } catch (const SubjectUnsupported& e) {
    run.skipped = e.what();
  } catch (const Refused& e) {
    run.skipped = e.what();
  }
  return run;
}

int record(const Options& options) {
  const auto device = make_device(options.device);  // throws BadInput for an unknown one
  std::vector<Case> cells = read_case_file(options.file);
  for (const Case& cell : cells)
    if (cell.state)
      throw BadInput(options.file, "case " + cell.name, "state", "a recording has no calls; leave this case out");
  for (const Case& cell : cells)
    if (recipes_of(cell, options.device).empty())
      throw BadInput(options.file, "case " + cell.name, "",
                     "at least one subject with a recipe is needed to record it");
  if (const std::string missing = device->missing(); !missing.empty()) {
    fmt::print(stderr, "ropewalk: the device {} is not here: {}\n", options.device, missing);
    return kCouldNotRun;
  }
  Report environment;
  environment.environment = this_environment(1, options.seed);
  set_cpu_threads(1);
  RecordingWriter writer(
      options.out, options.against,
      {options.device, device->versions(), device->emulated(), to_json(environment, false)["environment"]});
  Progress progress(stderr, static_cast<std::int64_t>(cells.size()), Progress::style_for(stderr, options.quiet));
  std::set<std::string> skipped;
  for (Case& cell : cells) {
    cell.seed = options.seed;
    std::vector<RecordedRun> runs;
    for (const SubjectSpec& spec : recipes_of(cell, options.device)) {
      runs.push_back(record(spec, cell));
      if (!runs.back().skipped.empty()) skipped.insert(spec.recipe + ": " + runs.back().skipped);
    }
    writer.add(cell, runs);
    progress.advance();
  }
  progress.finish();
  const auto& totals = writer.totals();
  if (totals.tensors == 0) {
    for (const std::string& line : skipped) fmt::print(stderr, "ropewalk: not recorded: {}\n", line);
    return kNothingCompared;
  }
  writer.finish();
  if (options.quiet) return kAsExpected;
  for (const std::string& line : skipped) fmt::print("not recorded: {}\n", line);
  fmt::print("{}: {} cases on {}{}, {} tensors in {} files; {} of {} elements stored\n", options.out, cells.size(),
             options.device, device->emulated() ? " (emulated)" : "", totals.tensors, totals.files, totals.stored,
             totals.elements);
  return kAsExpected;
}

}  // namespace

void add_record(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("record", "Keep what a device computes for a case file, to be replayed anywhere");
  auto options = std::make_shared<Options>();
  command->add_option("CASE_FILE", options->file, "The cases; every recipe in them is run on the device")->required();
  command->add_option("--device", options->device, "Where to run")->required();
  command->add_option("--out", options->out, "A new folder for the tensors and manifest.json")->required();
  command->add_option("--against", options->against, "Store only what differs from this recording");
  command->add_option("--seed", options->seed, "Key of the generated inputs")->check(CLI::NonNegativeNumber);
  command->add_flag("--quiet", options->quiet, "No progress, no summary");
  command->callback([=, &action] { action = [=] { return record(*options); }; });
}

}  // namespace ropewalk
