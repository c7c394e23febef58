// The examples in docs/ are what the readers take; every stored fault has a case that wakes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "harness/cases/case.hpp"
#include "harness/recipes/recipe.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

const std::filesystem::path kSource = ROPEWALK_SOURCE_DIR;

// The texts between ```json and ``` in a Markdown file.
std::vector<std::string> json_examples(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> out;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "```json") {
      inside = true;
      out.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      out.back() += line + "\n";
    }
  }
  return out;
}

TEST(Docs, TheCaseFileIsOne) {
  const auto examples = json_examples(kSource / "docs/case_file.md");
  ASSERT_EQ(examples.size(), 4U);
  const Folder folder;
  const auto cases = read_case_file(folder.write("cases.json", examples[0]));
  ASSERT_EQ(cases.size(), 4U);
  EXPECT_EQ(cases[0].id, "my-model/table/head_dim=128,base=10000,max_position=4096/float32");
}

TEST(Docs, TheModelsCaseFileIsOne) {
  const Folder folder;
  for (const auto& [from, to] :
       {std::pair("Llama-3.1-8B.json", "Llama-3.1-8B/config.json"), {"gemma-3-4b-it.json", "gemma-3-4b-it.json"}}) {
    std::ifstream model(kSource / "tests/data/configs" / from);
    folder.write(to, {std::istreambuf_iterator<char>(model), {}});
  }
  const auto file = folder.write("cases.json", json_examples(kSource / "docs/case_file.md").at(2));
  const auto cases = read_case_file(file);
  ASSERT_EQ(cases.size(), 6U) << "Gemma 3 has two kinds of layer";
  EXPECT_EQ(cases[2].id,
            "mine/tables/model_config=gemma-3-4b-it,layer_type=full_attention,positions=log_spaced(0..max_position;64)/"
            "float32");
}

TEST(Docs, TheImageIsACaseFile) {
  const Folder folder;
  const auto cases = read_case_file(folder.write("cases.json", json_examples(kSource / "docs/case_file.md").at(1)));
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].positions.count(), 12 + 14 * 20 + 30);
}

TEST(Docs, TheCallsAreACaseFile) {
  const Folder folder;
  const auto file = folder.write("cases.json", json_examples(kSource / "docs/case_file.md").at(3));
  const auto cases = read_case_file(file);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].id,
            "mine/grows/head_dim=64,scaling=dynamic,factor=2,max_position_embeddings=4,lengths=3..8/float32");
}

TEST(Docs, TheRefusalIsTheReaders) {
  const Folder folder;
  Json document = Json::parse(json_examples(kSource / "docs/case_file.md").at(0));
  document["cases"][0]["rope"]["head_dims"] = 64;
  const auto file = folder.write("cases.json", document.dump());
  const std::string line = complaint(folder, [&] { read_case_file(file); });
  std::ifstream stream(kSource / "docs/case_file.md");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(text, testing::HasSubstr(line.substr(0, line.find("base, "))));
}

TEST(Docs, TheRecipesAreRecipes) {
  const auto examples = json_examples(kSource / "docs/add_a_recipe.md");
  ASSERT_EQ(examples.size(), 2U);
  const Folder folder;
  EXPECT_EQ(read_recipe(folder.write("example.json", examples[0])).name, "example");
  const Recipe fault = read_recipe(folder.write("faults/example-positions-bfloat16.json", examples[1]));
  EXPECT_EQ(fault.parent, "example");
  EXPECT_THAT(fault.changed, testing::ElementsAre("positions"));
}

TEST(Faults, EachHasACaseAndNamesItsRecipe) {
  std::set<std::string> stored, used;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "cases/recipes/faults"))
    stored.insert(entry.path().stem());
  for (const char* file : {"cases/faults.json", "cases/scaling.json", "cases/axes.json"})
    for (const Case& problem : read_case_file(kSource / file))
      for (const SubjectSpec& subject : problem.subjects) used.insert(subject.recipe);  // "" of a tensor file
  EXPECT_THAT(stored, testing::IsSubsetOf(used));
  EXPECT_FALSE(stored.empty());
}

}  // namespace
}  // namespace ropewalk::test
