#include "harness/report/compare.hpp"

#include <fmt/format.h>

#include <memory>

#include "harness/cli/commands.hpp"
#include "harness/report/json.hpp"

namespace ropewalk {

void add_compare(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compare", "What got better, worse, appeared or vanished between two reports");
  auto files = std::make_shared<std::pair<std::string, std::string>>();
  command->add_option("OLD", files->first, "The earlier report")->required();
  command->add_option("NEW", files->second, "The later report")->required();
  command->callback([=, &action] {
    action = [=]() -> int {
      const auto old_report = read_report(files->first);
      const Comparison comparison = compare(old_report, read_report(files->second));
      fmt::print("{}", comparison_text(comparison));
      return comparison.worse.empty() && comparison.vanished.empty() ? kAsExpected : kUnexpected;
    };
  });
}

}  // namespace ropewalk
