#include <fmt/format.h>

#include <memory>
#include <thread>

#include "harness/bad_input.hpp"
#include "harness/cli/commands.hpp"
#include "harness/golden/verify.hpp"
#include "harness/golden/write.hpp"
#include "harness/report/progress.hpp"

namespace ropewalk {
namespace {

struct Options {
  std::string file, out, verify;
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  bool quiet = false;
};

std::string totals_text(const GoldenTotals& t) {
  return fmt::format(
      "{} files, {} tensors, {} bytes; values proved: {} fast, {} by more digits, {} known exactly; {} midpoints, {} "
      "undecided",
      t.files, t.tensors, t.bytes, t.proof.fast, t.proof.fallback, t.proof.exact, t.proof.midpoints, t.proof.undecided);
}

int write(const Options& options) {
  const std::vector<Case> cells = read_golden_case_file(options.file);
  Progress progress(stderr, static_cast<std::int64_t>(cells.size()), Progress::style_for(stderr, options.quiet));
  const GoldenTotals totals = write_goldens(cells, options.out, options.jobs, [&] { progress.advance(); });
  progress.finish();
  if (!options.quiet) fmt::print("{}: {}\n", options.out, totals_text(totals));
  return kAsExpected;
}

int verify(const Options& options) {
  const Manifest manifest = read_manifest(options.verify);
  Progress progress(stderr, static_cast<std::int64_t>(manifest.entries.size()),
                    Progress::style_for(stderr, options.quiet));
  const Verification found = verify_goldens(options.verify, manifest, options.jobs, [&] { progress.advance(); });
  progress.finish();
  for (const std::string& line : found.wrong) fmt::print("{}\n", line);
  if (manifest.version != golden_version())
    fmt::print("written by version {}, proved by version {}\n", manifest.version, golden_version());
  if (!options.quiet)
    fmt::print("{}: {}; {}\n", options.verify, found.wrong.empty() ? "as defined" : "NOT as defined",
               totals_text(found.totals));
  return found.wrong.empty() ? kAsExpected : kUnexpected;
}

}  // namespace

void add_golden(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("golden", "Write golden tensors (CASE_FILE --out DIR), or prove them (--verify DIR)");
  auto options = std::make_shared<Options>();
  auto* file = command->add_option("CASE_FILE", options->file, "The cases; their subjects and checks do not matter");
  auto* out = command->add_option("--out", options->out, "A new folder for the tensors and manifest.json");
  auto* verify_option = command->add_option("--verify", options->verify, "Prove every tensor of this folder again");
  file->needs(out);
  out->needs(file);
  verify_option->excludes(file)->excludes(out);
  command->add_option("--jobs", options->jobs, "How many files are made side by side")->check(CLI::Range(1, 1024));
  command->add_flag("--quiet", options->quiet, "No progress, no summary");
  command->callback([=, &action] {
    if (options->file.empty() && options->verify.empty())
      throw BadInput("golden", "", "", "either CASE_FILE with --out DIR, or --verify DIR");
    action = [=] { return options->verify.empty() ? write(*options) : verify(*options); };
  });
}

}  // namespace ropewalk
