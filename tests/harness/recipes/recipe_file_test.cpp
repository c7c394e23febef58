// Recipes as they are read: operands, places, faults, and the published files themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "harness/recipes/recipe.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

using testing::ElementsAre;

// The source tree's recipes, whatever the surroundings say; or another folder's.
class RecipeFile : public testing::Test {
 protected:
  void SetUp() override { use(std::filesystem::path(ROPEWALK_SOURCE_DIR) / "cases/recipes"); }
  void TearDown() override { unsetenv("ROPEWALK_RECIPES"); }
  static void use(const std::filesystem::path& folder) { setenv("ROPEWALK_RECIPES", folder.c_str(), 1); }
};

std::vector<Op> ops(const Recipe& recipe, const std::string& stage) {
  std::vector<Op> out;
  for (const Step& step : recipe.stage(stage)->steps) out.push_back(step.op);
  return out;
}

TEST_F(RecipeFile, StepsKeepTheirOrderOperandsAndDtypes) {
  const Recipe recipe = find_recipe("hf-llama-4.37");
  EXPECT_EQ(recipe.name, "hf-llama-4.37");
  EXPECT_FALSE(recipe.is_fault());
  EXPECT_THAT(recipe.buffers, ElementsAre("inv_freq"));
  EXPECT_THAT(ops(recipe, "inv_freq"), ElementsAre(Op::arange, Op::cast, Op::divide, Op::power, Op::reciprocal));
  const auto& steps = recipe.stage("inv_freq")->steps;
  EXPECT_THAT(steps[0].in, ElementsAre(Operand(0.0), Operand("rotary_dim"), Operand(2.0)));
  EXPECT_EQ(steps[0].dtype, "int64");
  EXPECT_THAT(steps[1].in, ElementsAre(Operand("previous")));
  EXPECT_THAT(steps[3].in, ElementsAre(Operand("dynamic_base"), Operand("previous")));
  EXPECT_EQ(recipe.stage("positions")->steps[0].dtype, "inv_freq");
  EXPECT_TRUE(recipe.stage("positions")->steps[0].in.empty());
  EXPECT_EQ(recipe.stages[0].stage, "inv_freq");  // runs first: positions take its dtype
  EXPECT_EQ(recipe.stages[1].stage, "positions");
  EXPECT_EQ(recipe.stage("scores"), nullptr);
}

TEST_F(RecipeFile, PlacesComeFromTheNearestAt) {
  const Folder folder;
  const auto file = folder.write("r.json", R"({
    "schema_version": 1, "name": "r", "title": "t", "source": "s", "at": "cpu", "stages": {
      "inv_freq": [{"op": "arange", "in": [0, "rotary_dim", 2], "dtype": "float32"}, {"op": "negate", "at": "device"}],
      "positions": [{"op": "positions", "dtype": "float32"}],
      "angle": {"at": "device", "steps": [{"op": "multiply", "in": ["positions", "inv_freq"], "as": "product"}, {"op": "negate", "at": "cpu"}]},
      "cos": [{"op": "cos", "in": ["product"]}], "sin": [{"op": "sin", "in": ["angle"]}]}})");
  const Recipe recipe = read_recipe(file);
  EXPECT_EQ(recipe.stage("inv_freq")->steps[0].place, Place::cpu);
  EXPECT_EQ(recipe.stage("inv_freq")->steps[1].place, Place::device);
  EXPECT_EQ(recipe.stage("angle")->steps[0].place, Place::device);
  EXPECT_EQ(recipe.stage("angle")->steps[0].as, "product");
  EXPECT_EQ(recipe.stage("angle")->steps[1].place, Place::cpu);
  EXPECT_EQ(recipe.stage("sin")->steps[0].place, Place::cpu);
}

TEST_F(RecipeFile, AFaultIsItsParentWithOneStageReplaced) {
  const Recipe parent = find_recipe("hf-llama-4.37");
  const Recipe fault = find_recipe("positions-bfloat16");
  EXPECT_TRUE(fault.is_fault());
  EXPECT_EQ(fault.parent, "hf-llama-4.37");
  EXPECT_EQ(fault.wakes, "a position of 257 or more");
  EXPECT_THAT(fault.changed, ElementsAre("positions"));
  EXPECT_EQ(fault.buffers, parent.buffers);
  ASSERT_EQ(fault.stages.size(), parent.stages.size());
  for (std::size_t i = 0; i < fault.stages.size(); ++i) EXPECT_EQ(fault.stages[i].stage, parent.stages[i].stage);
  EXPECT_EQ(ops(fault, "inv_freq"), ops(parent, "inv_freq"));
  EXPECT_THAT(ops(fault, "positions"), ElementsAre(Op::positions, Op::cast));
  EXPECT_EQ(fault.stage("positions")->steps[0].dtype, "bfloat16");
}

TEST_F(RecipeFile, TheProposalRunsOnTheCpuAndItsFaultDoesNot) {
  const auto places = [](const Recipe& recipe) {
    std::set<Place> out;
    for (const StageSteps& stage : recipe.stages)
      for (const Step& step : stage.steps) out.insert(step.place);
    return out;
  };
  EXPECT_THAT(places(find_recipe("hf-pr-28837")), ElementsAre(Place::cpu));
  EXPECT_TRUE(find_recipe("hf-pr-28837").buffers.empty());
  EXPECT_THAT(places(find_recipe("pr-28837-on-device")), ElementsAre(Place::device));
}

TEST_F(RecipeFile, AllRecipesPublishedFirstEachByName) {
  const auto recipes = all_recipes();
  std::vector<std::string> published, faults;
  for (const Recipe& recipe : recipes) {
    EXPECT_TRUE(recipe.is_fault() || faults.empty()) << recipe.name << " comes after a fault";
    if (recipe.kernel.empty()) (recipe.is_fault() ? faults : published).push_back(recipe.name);
    EXPECT_TRUE(recipe.kind != Kind::table || recipe.stages.size() == 5) << recipe.name;
    EXPECT_FALSE(recipe.title.empty() || recipe.source.empty()) << recipe.name;
    EXPECT_EQ(recipe.is_fault(), !recipe.wakes.empty()) << recipe.name;
    EXPECT_EQ(recipe.is_fault(), !recipe.changed.empty()) << recipe.name;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(recipe_folder()))
    files += entry.path().extension() == ".json";
  EXPECT_EQ(published.size(), files);
  EXPECT_TRUE(std::is_sorted(published.begin(), published.end()));
  EXPECT_GE(faults.size(), 20U);
  EXPECT_TRUE(std::is_sorted(faults.begin(), faults.end()));
}

TEST_F(RecipeFile, UnknownNamesGetTheNearestOnes) {
  try {
    find_recipe("hf-lama-4.37");
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_THAT(
        e.what(),
        testing::HasSubstr(
            "recipe: hf-lama-4.37: no such recipe, did you mean hf-llama-4.37?; there are attention-16-bit-weights, "));
    EXPECT_THAT(e.what(), testing::HasSubstr("positions-bfloat16"));
  }
}

TEST_F(RecipeFile, TheFolderComesFromTheEnvironmentElseFromTheSourceTree) {
  const Folder folder;
  use(folder.path());
  EXPECT_EQ(recipe_folder(), folder.path());
  EXPECT_THROW(all_recipes(), BadInput);  // an empty folder is no list of recipes
  unsetenv("ROPEWALK_RECIPES");
  EXPECT_EQ(recipe_folder(), std::filesystem::path(ROPEWALK_SOURCE_DIR) / "cases/recipes");
}

TEST_F(RecipeFile, AStoredRecipeHasItsFilesName) {
  const Folder folder;
  std::ifstream original(std::filesystem::path(ROPEWALK_SOURCE_DIR) / "cases/recipes/litgpt.json");
  folder.write("other.json", {std::istreambuf_iterator<char>(original), {}});
  use(folder.path());
  EXPECT_EQ(complaint(folder, [] { find_recipe("other"); }),
            "other.json: name: litgpt: a stored recipe has its file's name, other");
}

TEST_F(RecipeFile, ATableStartsFromAnother) {
  const Recipe later = find_recipe("hf-llama-4.57.6"), earlier = find_recipe("hf-llama-4.50.3");
  EXPECT_FALSE(earlier.is_fault());
  EXPECT_EQ(earlier.scalings, later.scalings);
  EXPECT_EQ(later.scalings.size(), 5U) << "proportional came with 5";
  EXPECT_EQ(earlier.stage("angle")->steps, later.stage("angle")->steps);
  EXPECT_NE(earlier.stage("inv_freq")->steps, later.stage("inv_freq")->steps);
  EXPECT_EQ(earlier.stages.size(), 5U);
}

TEST_F(RecipeFile, AFaultAndAnAttentionKnowTheirTablesScalings) {
  using Type = reference::Scaling::Type;
  EXPECT_THAT(find_recipe("hf-llama-4.37").scalings, ElementsAre(Type::linear, Type::dynamic));
  EXPECT_EQ(find_recipe("positions-bfloat16").scalings, find_recipe("hf-llama-4.37").scalings);
  EXPECT_EQ(find_recipe("hf-eager-attention").scalings, find_recipe("hf-llama-5.24").scalings);
}

// "table" beside "forward": another's rotation on a table of one's own, and nothing else.
TEST_F(RecipeFile, ARotationStandsOnAnothersTable) {
  const Recipe made = find_recipe("gemma-3.3.0-rotation"), table = find_recipe("gemma-3.3.0"),
               rotation = find_recipe("litgpt-rotation");
  EXPECT_EQ(made.stage("angle")->steps, table.stage("angle")->steps);
  EXPECT_NE(made.stage("angle")->steps, rotation.stage("angle")->steps);
  EXPECT_EQ(made.stage("rotated_k")->steps, rotation.stage("rotated_k")->steps);
  EXPECT_EQ(made.stages.size(), rotation.stages.size());
  EXPECT_EQ(made.scalings, table.scalings);
  EXPECT_NE(made.scalings, rotation.scalings);
  EXPECT_EQ(find_recipe("hf-llama-4.37-rotation").buffers, find_recipe("hf-llama-4.37").buffers);
  const Recipe fault = find_recipe("ggml-cpu-rotation");
  EXPECT_EQ(fault.stage("angle")->steps, find_recipe("ggml-cpu").stage("angle")->steps);
  EXPECT_EQ(fault.stage("rotated_q")->steps, find_recipe("onnxruntime-1.32.0-rotation").stage("rotated_q")->steps);
}

TEST_F(RecipeFile, OperationsNeverMet) {
  const Folder folder;  // every operation can be written
  const auto file = folder.write("r.json", R"({
    "schema_version": 1, "name": "r", "title": "t", "source": "s", "stages": {
      "inv_freq": [{"op": "arange", "in": [0, "head_dim", 2], "dtype": "float32"}, {"op": "exp"}, {"op": "log"}, {"op": "exp2"},
                   {"op": "floor"}, {"op": "negate"}, {"op": "add", "in": ["previous", 1]}, {"op": "subtract", "in": [1, "previous"]},
                   {"op": "keep_bits", "in": ["previous", 11]}],
      "positions": [{"op": "positions", "dtype": "float32"}], "angle": [{"op": "multiply", "in": ["positions", "inv_freq"]}],
      "cos": [{"op": "polar", "in": ["angle"], "as": "p"}, {"op": "real"}], "sin": [{"op": "imag", "in": ["p"]}]}})");
  EXPECT_THAT(ops(read_recipe(file), "inv_freq"), ElementsAre(Op::arange, Op::exp, Op::log, Op::exp2, Op::floor,
                                                              Op::negate, Op::add, Op::subtract, Op::keep_bits));
}

}  // namespace
}  // namespace ropewalk::test
