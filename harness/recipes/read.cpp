#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "harness/bad_input.hpp"
#include "harness/recipes/kernels.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/recipes/steps.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;
using reference::Scaling;

constexpr std::array<std::string_view, 4> kAxes{"one", "blocked", "interleaved", "axial"};

Recipe read_parent(const Field& field) {
  const std::string name = field.name();
  const fs::path here = fs::path(field.file()).parent_path();
  for (const fs::path& folder : {here, here / ".."}) {
    const fs::path file = (folder / (name + ".json")).lexically_normal();
    if (!fs::exists(file) || fs::equivalent(file, field.file())) continue;
    if (read_json_file(file).contains("parent"))
      field.refuse("a fault's parent is a published recipe, not another fault");
    return read_recipe(file);
  }
  field.refuse("no such recipe in the fault's folder or the one above");
}

void read_text(const Object& object, const char* name, std::string& out) { out = object.need(name).text(); }

void read_kind(const Object& object, Recipe& recipe) {
  constexpr std::array<std::string_view, 3> kKinds{"table", "attention", "lora"};
  const auto field = object.find("kind");
  if (field && recipe.parent != "") field->refuse("a fault is of its parent's kind");
  if (field) recipe.kind = static_cast<Kind>(field->choice(kKinds));
}

void read_buffers(const Object& object, Recipe& recipe) {
  const auto field = object.find("buffers");
  if (!field) return;
  recipe.buffers.clear();
  for (const Field& item : field->items()) {
    const std::string stage(stages_of(recipe.kind)[item.choice(stages_of(recipe.kind))]);
    if (std::find(recipe.buffers.begin(), recipe.buffers.end(), stage) != recipe.buffers.end())
      item.refuse("each one once");
    recipe.buffers.push_back(stage);
  }
}

void read_scalings(const Object& object, Recipe& recipe) {
  const auto field = object.find("scalings");
  if (!field) return;
  if (recipe.kind == Kind::lora) field->refuse("a recipe of kind lora has no table");
  std::vector<std::string_view> names;
  for (auto type = Scaling::Type::linear; type <= Scaling::Type::proportional;
       type = static_cast<Scaling::Type>(static_cast<int>(type) + 1))
    names.push_back(name_of(type));
  recipe.scalings.clear();
  for (const Field& item : field->items()) {
    const auto type = static_cast<Scaling::Type>(item.choice(names) + 1);
    if (std::find(recipe.scalings.begin(), recipe.scalings.end(), type) != recipe.scalings.end())
      item.refuse("each one once");
    recipe.scalings.push_back(type);
  }
}

void read_keeps(const Object& object, Recipe& recipe) {
  constexpr std::array<std::string_view, 6> kKeeps{"nothing",
                                                   "table",
                                                   "last_frequencies",
                                                   "longest_frequencies",
                                                   "longest_frequencies_and_lists",
                                                   "longest_frequencies_in_buffers"};
  const auto field = object.find("keeps");
  if (field && recipe.kind != Kind::table) field->refuse("this goes with recipes of kind table only");
  if (field) recipe.keeps = static_cast<Keeps>(field->choice(kKeeps));
}

void read_axes(const Object& object, Recipe& recipe) {
  const auto field = object.find("axes");
  if (!field) return;
  if (recipe.kind == Kind::lora) field->refuse("a recipe of kind lora has no table");
  recipe.axes = static_cast<Axes>(field->choice(kAxes));
}

void replace_stages(const std::vector<StageSteps>& replacements, Recipe& recipe) {
  for (const StageSteps& replacement : replacements) {
    const auto old = std::find_if(recipe.stages.begin(), recipe.stages.end(),
                                  [&](const StageSteps& stage) { return stage.stage == replacement.stage; });
    if (old != recipe.stages.end() && *old == replacement) continue;
    recipe.changed.push_back(replacement.stage);
    if (old != recipe.stages.end()) *old = replacement;
  }
}

// Stages that another recipe makes: "table" names one of a table, whose stages the recipe's own replace; "forward", for
// attention, one of attention whose stages are taken, up to the output where it has one, and not its gradients. With
// both, the table is the first one's: projects share rotations more often than tables.
void read_earlier(const Object& object, const char* which, Kind kind, Recipe& recipe) {
  const auto field = object.find(which);
  if (!field) return;
  if (recipe.kind == Kind::lora) field->refuse("a recipe of kind lora has no table");
  if (recipe.kind != Kind::attention && kind == Kind::attention)
    field->refuse("this goes with recipes of kind attention only");
  const fs::path here = fs::path(field->file()).parent_path();
  for (const fs::path& folder : {here, here / ".."}) {
    const fs::path file = (folder / (field->name() + ".json")).lexically_normal();
    if (!fs::exists(file)) continue;
    Recipe earlier = read_recipe(file);
    if (earlier.kind != kind) field->refuse(fmt::format("a recipe of kind {} is needed", name_of(kind)));
    std::erase_if(earlier.stages, [](const StageSteps& stage) { return stage.stage.starts_with("grad_"); });
    if (recipe.is_fault()) {
      replace_stages(earlier.stages, recipe);
    } else {
      const bool has_table = !recipe.stages.empty();
      for (StageSteps& stage : earlier.stages)
        if (!recipe.stage(stage.stage)) recipe.stages.push_back(std::move(stage));
      if (has_table) return;
    }
    recipe.buffers = earlier.buffers;
    recipe.scalings = earlier.scalings;
    recipe.keeps = earlier.keeps;
    recipe.axes = earlier.axes;
    return;
  }
  field->refuse("no such recipe in this recipe's folder or the one above");
}

// A fault is run by its steps: the kernel is right.
void read_kernel(const Object& object, Recipe& recipe) {
  recipe.kernel.clear();
  const auto field = object.find("kernel");
  if (!field) return;
  if (recipe.is_fault()) field->refuse("a fault has no kernel: its steps are what is wrong");
  recipe.kernel = std::string(kernels_of(recipe.kind)[field->choice(kernels_of(recipe.kind))]);
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> out;
  if (!fs::is_directory(folder)) return out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); });
  return out;
}

// Recipes are found by their file's name, so it must be their own.
Recipe read_stored(const fs::path& file) {
  Recipe recipe = read_recipe(file);
  if (recipe.name != file.stem())
    throw BadInput(file.string(), "name", recipe.name, "a stored recipe has its file's name, " + file.stem().string());
  return recipe;
}

}  // namespace

std::string_view name_of(Axes axes) { return kAxes[static_cast<std::size_t>(axes)]; }

const StageSteps* Recipe::stage(const std::string& stage_name) const {
  for (const StageSteps& stage : stages)
    if (stage.stage == stage_name) return &stage;
  return nullptr;
}

Recipe read_recipe(const fs::path& file) {
  const Json document = read_json_file(file);
  const Object object(Field(file.string(), "", document),
                      {"schema_version", "kind", "name", "title", "source", "parent", "wakes", "table", "forward",
                       "scalings", "keeps", "axes", "kernel", "at", "buffers", "stages"});
  need_schema_version_1(object);
  for (const auto& [one, other] : {std::pair{"parent", "wakes"}, std::pair{"wakes", "parent"}})
    if (object.has(one) && !object.has(other))
      object.need(one).refuse(fmt::format("a fault has \"{}\" beside it", other));

  Recipe recipe;
  if (object.has("parent")) recipe = read_parent(object.need("parent"));
  recipe.parent = object.has("parent") ? recipe.name : "";
  read_kind(object, recipe);
  recipe.name = object.need("name").name();
  read_text(object, "title", recipe.title);
  read_text(object, "source", recipe.source);
  if (object.has("wakes")) read_text(object, "wakes", recipe.wakes);
  if (recipe.is_fault() && object.has("table") && object.has("forward"))
    object.need("forward").refuse("either table or forward: the rest is the parent's");
  read_earlier(object, "table", Kind::table, recipe);
  read_earlier(object, "forward", Kind::attention, recipe);
  read_scalings(object, recipe);
  read_keeps(object, recipe);
  read_axes(object, recipe);
  read_kernel(object, recipe);
  read_buffers(object, recipe);
  const Place place = object.has("at") ? read_place(object.need("at")) : Place::device;
  const Field stages = object.need("stages");
  // One that others give whole, a rotation on another's table, may have no stage of its own.
  const bool whole = object.has("table") && (object.has("forward") || recipe.is_fault());
  std::vector<StageSteps> own;
  if (!whole || stages.json() != Json::object()) own = read_stages(stages, place, recipe.kind);
  if (recipe.is_fault())
    replace_stages(own, recipe);
  else
    for (StageSteps& stage : own) {
      const auto old = std::find_if(recipe.stages.begin(), recipe.stages.end(),
                                    [&](const StageSteps& known) { return known.stage == stage.stage; });
      if (old != recipe.stages.end())
        *old = std::move(stage);
      else
        recipe.stages.push_back(std::move(stage));
    }
  check_stages(recipe, stages);
  return recipe;
}

fs::path recipe_folder() {
  if (const char* named = std::getenv("ROPEWALK_RECIPES"); named && *named) return named;
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  fs::path installed = program.parent_path().parent_path() / "share/ropewalk/recipes";
  if (!unknown && fs::is_directory(installed)) return installed;
  return fs::path(ROPEWALK_SOURCE_DIR) / "cases/recipes";
}

std::vector<Recipe> all_recipes() {
  const fs::path folder = recipe_folder();
  std::vector<Recipe> out;
  for (const fs::path& part : {folder, folder / "kernels", folder / "faults"})
    for (const fs::path& file : json_files(part)) out.push_back(read_stored(file));
  if (out.empty())
    throw BadInput(folder.string(), "", "", "no recipes are here; $ROPEWALK_RECIPES names another folder");
  return out;
}

Recipe find_recipe(const std::string& name) {
  const fs::path folder = recipe_folder();
  std::vector<std::string> names;
  for (const fs::path& part : {folder, folder / "kernels", folder / "faults"}) {
    for (const fs::path& file : json_files(part)) {
      if (file.stem() == name) return read_stored(file);
      names.push_back(file.stem());
    }
  }
  throw BadInput(folder.string(), "recipe", name,
                 "no such recipe" + did_you_mean(name, names) + "; there are " + joined(names));
}

}  // namespace ropewalk
