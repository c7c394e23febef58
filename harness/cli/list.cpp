#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/cli/selection.hpp"

namespace ropewalk {

void add_list(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("list", "Print the id of every result that `run` would make");
  auto selection = std::make_shared<Selection>();
  auto as_json = std::make_shared<bool>(false);
  add_selection(*command, *selection);
  command->add_flag("--json", *as_json, "As a JSON list");
  command->callback([=, &action] {
    action = [=]() -> int {
      nlohmann::json ids = nlohmann::json::array();
      for (const Cell& cell : select(*selection))
        for (const Planned& planned : cell.planned) ids.push_back(planned.id);
      if (*as_json) {
        fmt::print("{}\n", ids.dump(2));
        return kAsExpected;
      }
      for (const auto& id : ids) fmt::print("{}\n", id.get<std::string>());
      return ids.empty() ? kNothingCompared : kAsExpected;
    };
  });
}

}  // namespace ropewalk
