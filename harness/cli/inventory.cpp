// devices, recipes, faults: what there is here, and why something is not available.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/commands.hpp"
#include "harness/devices/device.hpp"
#include "harness/devices/functions.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {
namespace {

nlohmann::ordered_json devices() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& name : device_names()) {
    const auto device = make_device(name);
    const std::string missing = device->missing();
    const DocumentedBounds bounds = device->bounds();
    nlohmann::ordered_json functions = nlohmann::ordered_json::array();
    for (const FunctionNote& note : functions_of(name, !device->emulated()))
      functions.push_back({{"functions", note.functions}, {"reliance", name_of(note.reliance)}, {"why", note.why}});
    list.push_back(
        {{"name", name},
         {"available", missing.empty()},
         {"reason", missing.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(missing)},
         {"emulated", device->emulated()},
         {"versions", device->versions()},
         {"bounds", {{"sin_cos_ulp", bounds.sin_cos_ulp}, {"pow_ulp", bounds.pow_ulp}, {"source", bounds.source}}},
         {"functions", std::move(functions)}});
  }
  return list;
}

nlohmann::ordered_json recipes(bool faults) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Recipe& recipe : all_recipes()) {
    if (recipe.is_fault() != faults) continue;
    nlohmann::ordered_json entry{
        {"name", recipe.name}, {"kind", name_of(recipe.kind)}, {"title", recipe.title}, {"source", recipe.source}};
    for (const auto type : recipe.scalings) entry["scalings"].push_back(name_of(type));
    if (recipe.axes != Axes::one) entry["axes"] = name_of(recipe.axes);
    if (faults) {
      entry["parent"] = recipe.parent;
      entry["changes"] = recipe.changed;
      entry["wakes"] = recipe.wakes;
    }
    list.push_back(entry);
  }
  return list;
}

std::string device_line(const nlohmann::ordered_json& device) {
  const auto& reason = device["reason"];
  std::string text = fmt::format("{:<13} {}", device["name"].get<std::string>(),
                                 reason.is_null() ? "available" : "not here: " + reason.get<std::string>());
  if (device["emulated"].get<bool>()) text += ", emulated";
  if (const auto versions = device["versions"].get<std::string>(); !versions.empty()) text += " (" + versions + ")";
  for (const auto& note : device["functions"])
    text += fmt::format("\n  {:<9} {}: {}", note["reliance"].get<std::string>(), note["functions"].get<std::string>(),
                        note["why"].get<std::string>());
  return text;
}

std::string recipe_line(const nlohmann::ordered_json& recipe) {
  const std::string text = fmt::format("{:<28} {:<9} {}", recipe["name"].get<std::string>(),
                                       recipe["kind"].get<std::string>(), recipe["title"].get<std::string>());
  return recipe.contains("parent") ? text + " [fault of " + recipe["parent"].get<std::string>() + "]" : text;
}

void add(CLI::App& app, Action& action, const std::string& name, const std::string& help,
         nlohmann::ordered_json (*make)(), std::string (*line)(const nlohmann::ordered_json&)) {
  auto* command = app.add_subcommand(name, help);
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "As JSON");
  command->callback([=, &action] {
    action = [=]() -> int {
      const auto list = make();
      if (*as_json) fmt::print("{}\n", list.dump(2));
      for (const auto& entry : list)
        if (!*as_json) fmt::print("{}\n", line(entry));
      return kAsExpected;
    };
  });
}

}  // namespace

void add_inventory(CLI::App& app, Action& action) {
  add(app, action, "devices", "Where recipes can run here, and why not elsewhere", devices, device_line);
  add(
      app, action, "recipes", "The published implementations that are known", [] { return recipes(false); },
      recipe_line);
  add(
      app, action, "faults", "The known faults", [] { return recipes(true); }, recipe_line);
}

}  // namespace ropewalk
