#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/bad_input.hpp"
#include "harness/cases/json_file.hpp"
#include "harness/cli/commands.hpp"
#include "harness/cli/selection.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/report/json.hpp"
#include "harness/report/schema.hpp"

namespace ropewalk {
namespace {

bool nothing_under_test(const nlohmann::json& document) {
  return std::none_of(document["cases"].begin(), document["cases"].end(),
                      [](const nlohmann::json& c) { return c.contains("subjects") || c.contains("checks"); });
}

// What the file is shows in its fields; its reader has the last word, the schema the first.
std::string validate(const std::string& file) {
  const nlohmann::json document = read_json_file(file);
  const std::string kind = document.contains("results") ? "report" : document.contains("stages") ? "recipe" : "case";
  const auto errors = schema_errors(schema_named(kind), document);
  if (kind == "case" && errors.empty() && nothing_under_test(document))
    return fmt::format("a case file for `ropewalk golden`: {} files", read_golden_case_file(file).size());
  if (kind == "case") {
    Selection selection;
    selection.files = {file};
    std::size_t results = 0;
    const auto cells = select(selection);
    for (const Cell& cell : cells) results += cell.planned.size();
    if (errors.empty()) return fmt::format("a case file: {} cells, {} results", cells.size(), results);
  } else if (kind == "recipe") {
    const Recipe recipe = read_recipe(file);
    if (errors.empty()) return recipe.is_fault() ? "a fault of " + recipe.parent : "a recipe";
  } else {
    read_report(file);
  }
  if (!errors.empty()) throw BadInput(file, "", "", errors.front());
  return "a report";
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("validate", "Check case files, recipes and reports; run nothing");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Case files, recipes or reports")->required();
  command->callback([=, &action] {
    action = [=]() -> int {
      int code = kAsExpected;
      for (const std::string& file : *files) {
        try {
          const std::string what = validate(file);
          fmt::print("{}: valid, {}\n", file, what);
        } catch (const BadInput& e) {
          fmt::print(stderr, "{}\n", e.what());
          code = kBadInput;
        }
      }
      return code;
    };
  });
}

}  // namespace ropewalk
