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
  command->add_flag("--json", *as_json, "As a JSON list: ids, and what a model's config.json was taken to say");
  command->callback([=, &action] {
    action = [=]() -> int {
      nlohmann::ordered_json listed = nlohmann::ordered_json::array();
      for (const Cell& cell : select(*selection)) {
        for (const Planned& planned : cell.planned) {
          listed.push_back({{"id", planned.id}});
          if (!cell.problem.derived.is_null()) listed.back()["derived"] = cell.problem.derived;
        }
      }
      if (*as_json) {
        fmt::print("{}\n", listed.dump(2));
        return kAsExpected;
      }
      for (const auto& planned : listed) fmt::print("{}\n", planned["id"].get<std::string>());
      return listed.empty() ? kNothingCompared : kAsExpected;
    };
  });
}

}  // namespace ropewalk
