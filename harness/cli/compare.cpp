#include "harness/report/compare.hpp"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/report/json.hpp"

namespace ropewalk {

void add_compare(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compare", "What got better, worse, appeared or vanished between two reports");
  struct Options {
    std::string old_report, new_report;
    double growth = 0;
  };
  auto options = std::make_shared<Options>();
  command->add_option("OLD", options->old_report, "The earlier report")->required();
  command->add_option("NEW", options->new_report, "The later report")->required();
  command->add_option("--growth", options->growth, "Relative growth of a number that still counts as the same (0.1)")
      ->check(CLI::NonNegativeNumber)
      ->check([](const std::string& text) {  // NaN, which the range takes, would let everything grow
        return text.find_first_of("nN") == std::string::npos ? "" : text + ": a finite number from 0 is needed";
      });
  command->callback([=, &action] {
    action = [=]() -> int {
      const auto old_report = read_report(options->old_report);
      const Comparison comparison = compare(old_report, read_report(options->new_report), options->growth);
      fmt::print("{}", comparison_text(comparison));
      return comparison.worse.empty() && comparison.vanished.empty() ? kAsExpected : kUnexpected;
    };
  });
}

}  // namespace ropewalk
