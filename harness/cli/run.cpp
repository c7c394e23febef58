#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "harness/bad_input.hpp"
#include "harness/checks/expectations.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/environment.hpp"
#include "harness/cli/selection.hpp"
#include "harness/devices/device.hpp"
#include "harness/diagnosis/failing.hpp"
#include "harness/report/accepted.hpp"
#include "harness/report/console.hpp"
#include "harness/report/json.hpp"
#include "harness/report/junit.hpp"
#include "harness/report/progress.hpp"
#include "harness/report/text.hpp"
#include "harness/subjects/process.hpp"

namespace ropewalk {
namespace {

struct Options {
  Selection selection;
  std::string report, junit, save_failing;
  std::vector<std::string> required_devices;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::uint64_t seed = 0;
  bool fail_fast = false, all_results = false, quiet = false;
};

constexpr const char* kReports = "reports/runs";

std::atomic<bool> stop{false};
std::atomic<int> stopped_by{0};
std::atomic<std::int64_t> stopped_at{0};  // s

// A first Ctrl-C lets the report be written; a later one ends the program at once. What comes within a second is still
// the first: `timeout` and others send a signal to the program and once more to its process group.
extern "C" void on_signal(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  int nothing = 0;
  if (stopped_by.compare_exchange_strong(nothing, signal)) {
    stopped_at = now.tv_sec;
    stop = true;
  } else if (now.tv_sec - stopped_at > 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

void listen_to_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

// A device that must be here and is not: its results are errors, not skips.
void require(const std::set<std::string>& missing, Result& result) {
  if (result.verdict != Verdict::skipped) return;
  for (const SubjectInfo& subject : result.subjects)
    if (missing.contains(subject.device)) {
      result.verdict = Verdict::error;
      result.reason += " (required by --require-device)";
      return;
    }
}

std::string escaped(const std::string& id) {
  std::string out;
  for (const char c : id) {
    if (std::string_view(R"(\^$.|?*+()[]{})").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string rerun_command(const Case& problem, const std::string& id, const Options& options) {
  std::string command = fmt::format("ropewalk run {} --filter '^{}$'", quoted(problem.file), escaped(id));
  if (options.selection.repeat > 1) command += fmt::format(" --repeat {}", options.selection.repeat);
  if (options.seed != 0) command += fmt::format(" --seed {}", options.seed);
  return command;
}

// The results of all checks that only their whole declared case can judge.
void settle_groups(std::vector<Result>& results, const std::vector<const Cell*>& cells,
                   const std::vector<std::size_t>& checks, bool complete) {
  struct Group {
    std::vector<Result*> results;
    const CheckSpec* check = nullptr;
    bool whole = true;
  };
  std::map<std::tuple<std::string, std::int64_t, std::size_t>, Group> groups;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Case& problem = cells[i]->problem;
    const CheckSpec& check = problem.checks[checks[i]];
    if (!check.expect_any_fail) continue;
    Group& group = groups[{problem.file, problem.declaration, checks[i]}];
    group.results.push_back(&results[i]);
    group.check = &check;
    group.whole = group.whole && cells[i]->whole && complete;
  }
  for (const auto& [key, group] : groups) settle_any_fail(group.results, *group.check, group.whole);
}

std::string default_report() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  std::error_code problem;
  std::filesystem::create_directories(kReports, problem);
  for (int n = 1;; ++n) {  // made at once, so that no other run that ends now takes it too
    const std::filesystem::path folder = fmt::format("{}/{}{}", kReports, stamp, n == 1 ? "" : fmt::format("-{}", n));
    if (std::filesystem::create_directory(folder, problem) || problem) return folder / "report.json";
  }
}

int exit_code(const Report& report) {
  if (stopped_by != 0) return 128 + stopped_by;
  bool unexpected = false, error = false, compared = false;
  for (const Result& result : report.results) {
    unexpected = unexpected || result.unexpected;
    error = error || (result.unexpected && result.verdict == Verdict::error);
    compared = compared || result.measured.compared > 0;
  }
  if (error) return kCouldNotRun;
  if (unexpected) return kUnexpected;
  return compared ? kAsExpected : kNothingCompared;
}

using Accepted = std::map<std::filesystem::path, AcceptedReport>;

Accepted accepted_reports(const std::vector<Cell>& cells) {
  Accepted out;
  for (const Cell& cell : cells)
    for (const CheckSpec& check : cell.problem.checks)
      if (!check.accepted.empty() && !out.contains(check.accepted))
        out.emplace(check.accepted, read_accepted(check.accepted));
  return out;
}

void settle(Result& result, const CheckSpec& check, const Accepted& accepted) {
  settle(result, check);
  if (!check.accepted.empty()) settle_accepted(result, accepted.at(check.accepted));
}

Report run_cells(const std::vector<Cell>& cells, const Options& options, const std::set<std::string>& missing) {
  const Accepted accepted = accepted_reports(cells);
  Report report;
  report.environment = this_environment(options.jobs, options.seed);
  const double start = seconds_now();
  std::vector<CaseOutcome> outcomes(cells.size());
  SubjectPool pool;
  Progress progress(stderr, static_cast<std::int64_t>(cells.size()), Progress::style_for(stderr, options.quiet));
  const auto unexpected = [&](const Cell& cell, Result result, std::size_t check) {
    const CheckSpec& spec = cell.problem.checks[check];
    require(missing, result);
    if (!spec.expect_any_fail) settle(result, spec, accepted);
    return result.unexpected;
  };
  Process::stop_when(&stop);
  tbb::task_arena arena(options.jobs);
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, cells.size(), 1),
        [&](const auto& range) {
          set_cpu_threads(1);
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            outcomes[i].finished = false;
            if (stop) continue;
            outcomes[i] = run_case(cells[i].problem, cells[i].planned, pool, stop);
            for (std::size_t r = 0; options.fail_fast && r < outcomes[i].results.size(); ++r)
              if (unexpected(cells[i], outcomes[i].results[r], cells[i].planned[r].check)) stop = true;
            if (outcomes[i].finished) progress.advance();
          }
        },
        tbb::simple_partitioner());
  });
  Process::stop_when(nullptr);  // what failed may have to be asked again, to be kept
  progress.finish();

  std::vector<const Cell*> cell_of;
  std::vector<std::size_t> check_of;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CaseOutcome& outcome = outcomes[i];
    report.complete = report.complete && outcome.finished;
    if (!outcome.finished) continue;
    ++report.cases;
    const Case& problem = cells[i].problem;  // every dtype derives the same
    if (!problem.derived.is_null()) report.derived[problem.id.substr(0, problem.id.rfind('/'))] = problem.derived;
    report.seconds_subjects += outcome.seconds_subjects;
    report.seconds_reference += outcome.seconds_reference;
    report.seconds_checks += outcome.seconds_checks;
    report.reference.fast += outcome.proof.fast;
    report.reference.fallback += outcome.proof.fallback;
    report.reference.exact += outcome.proof.exact;
    report.reference.midpoints += outcome.proof.midpoints;
    report.reference.undecided += outcome.proof.undecided;
    for (std::size_t r = 0; r < outcome.results.size(); ++r) {
      Result& result = outcome.results[r];
      const std::size_t check = cells[i].planned[r].check;
      require(missing, result);
      settle(result, cells[i].problem.checks[check], accepted);
      result.rerun = rerun_command(cells[i].problem, result.id, options);
      report.results.push_back(std::move(result));
      cell_of.push_back(&cells[i]);
      check_of.push_back(check);
    }
  }
  settle_groups(report.results, cell_of, check_of, report.complete);
  report.seconds = seconds_now() - start;
  return report;
}

// Whether a file can be made there, with the folders that are missing.
bool is_writable(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (fs::exists(path)) return access(path.c_str(), W_OK) == 0;
  fs::path folder = fs::absolute(path).parent_path();
  while (!fs::exists(folder)) folder = folder.parent_path();
  return fs::is_directory(folder) && access(folder.c_str(), W_OK | X_OK) == 0;
}

// Looked at before the work, so that hours of it are not lost at the end.
void check_outputs(const Options& options) {
  namespace fs = std::filesystem;
  if (options.report.empty() && !is_writable(fs::path(kReports) / "new"))
    throw BadInput("--report", "", kReports, "cannot be written; a file in a folder that can be");
  for (const auto& [option, path] : {std::pair("--report", options.report), std::pair("--junit", options.junit)}) {
    if (path.empty()) continue;
    const fs::path parent = fs::absolute(path).parent_path();
    if (fs::is_directory(path)) throw BadInput(option, "", path, "a file, not a folder");
    if (std::string(option) == "--junit" && !fs::is_directory(parent))
      throw BadInput(option, "", path, "a file in a folder that exists");
    if (!is_writable(path)) throw BadInput(option, "", path, "cannot be written; a file in a folder that can be");
    for (const std::string& file : options.selection.files)
      if (fs::exists(path) && fs::equivalent(path, file))
        throw BadInput(option, "", path, "another file than the case file");
  }
  if (fs::exists(options.save_failing) && !fs::is_directory(options.save_failing))
    throw BadInput("--save-failing", "", options.save_failing, "a folder, or the name of a new one");
  if (!options.junit.empty() && options.junit == options.report)
    throw BadInput("--junit", "", options.junit, "another file than the report");
}

// The tensors of every failure that was not expected, one folder a cell.
void keep_failing(const Options& options, const std::vector<Cell>& cells, const Report& report) {
  std::map<std::string, const Result*> failing;
  for (const Result& result : report.results)
    if (result.unexpected && result.verdict == Verdict::fail) failing[result.id] = &result;
  SubjectPool pool;
  for (const Cell& cell : cells) {
    std::vector<const Result*> of_cell;
    for (const Planned& planned : cell.planned)
      if (const auto found = failing.find(planned.id); found != failing.end()) of_cell.push_back(found->second);
    if (of_cell.empty()) continue;
    const auto folder = save_failing(options.save_failing, cell.problem, of_cell, pool);
    if (folder && !options.quiet) fmt::print("kept: {}\n", folder->string());
    if (!folder) fmt::print(stderr, "ropewalk: {}: not kept, only tables without calls are\n", cell.problem.id);
  }
}

int run(const Options& options) {
  listen_to_signals();
  std::set<std::string> missing;
  for (const std::string& device : options.required_devices)
    if (!make_device(device)->missing().empty()) missing.insert(device);  // throws for an unknown one
  std::vector<Cell> cells = select(options.selection);
  for (Cell& cell : cells) cell.problem.seed = options.seed;
  check_outputs(options);
  if (cells.empty()) {
    fmt::print(stderr, "ropewalk: nothing to run: no result matches the filter, the device or the shard\n");
    return kNothingCompared;
  }
  const Report report = run_cells(cells, options, missing);
  if (!options.quiet) fmt::print("{}", summary_text(report));  // first: there may be no room for the report
  const std::string path = options.report.empty() ? default_report() : options.report;
  write_report(path, to_json(report, options.all_results));
  if (!options.junit.empty()) write_text(options.junit, junit_text(report));
  if (!options.quiet) fmt::print("report: {}\n", path);
  if (!options.save_failing.empty()) keep_failing(options, cells, report);
  for (const std::string& device : missing)
    fmt::print(stderr, "ropewalk: the required device {} is not here: {}\n", device, make_device(device)->missing());
  const int code = exit_code(report);
  return missing.empty() || code > kNothingCompared ? code : kCouldNotRun;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("run", "Run case files, print a summary, write the report");
  auto options = std::make_shared<Options>();
  add_selection(*command, options->selection);
  command->add_option("--report", options->report, "Where the report goes (default: a new folder under reports/runs)");
  command->add_option("--junit", options->junit, "Also write the results as JUnit XML");
  command->add_option("--save-failing", options->save_failing, "Keep the tensors of what fails in this folder");
  command->add_option("--jobs", options->jobs, "How many cells run side by side")->check(CLI::Range(1, 1024));
  command->add_option("--seed", options->seed, "Key of the generated inputs")->check(CLI::NonNegativeNumber);
  command->add_option("--require-device", options->required_devices, "Its absence is an error, not a skip")
      ->allow_extra_args(false);
  command->add_flag("--fail-fast", options->fail_fast, "Stop at the first unexpected verdict");
  command->add_flag("--all-results", options->all_results, "Keep every passing result in the report");
  command->add_flag("--quiet", options->quiet, "No progress, no summary");
  command->callback([=, &action] { action = [=] { return run(*options); }; });
}

}  // namespace ropewalk
