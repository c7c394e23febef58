// reports/case.schema.json and reports/recipe.schema.json say what the readers do.
#include "harness/report/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/cases/case.hpp"
#include "harness/recipes/recipe.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = ROPEWALK_SOURCE_DIR;

constexpr const char* kCase = R"({
  "schema_version": 1, "name": "s", "cases": [{
    "name": "one", "rope": {"head_dim": 64, "positions": {"from": 0, "to": 4}}, "dtype": "float32",
    "subjects": [{"name": "a", "recipe": "r", "device": "cpu"}],
    "checks": [{"relation": "accuracy", "expect": {"verdict": "pass"}, "limit": {"value": 1, "unit": "abs", "source": "s"}},
               {"relation": "invariants", "expect": [{"where": {}, "verdict": "pass"}]}]
  }]})";
constexpr const char* kRecipe = R"({
  "schema_version": 1, "name": "r", "title": "t", "source": "s", "stages": {
    "inv_freq": {"at": "cpu", "steps": [{"op": "arange", "in": [0, "rotary_dim", 2], "dtype": "float32"}]},
    "positions": [{"op": "positions", "dtype": "float32"}], "angle": [{"op": "multiply", "in": ["positions", "inv_freq"]}],
    "cos": [{"op": "cos", "in": ["angle"]}], "sin": [{"op": "sin", "in": ["angle"]}]}})";

nlohmann::json schema(const char* name) {
  std::ifstream stream(kSource / "reports" / (std::string(name) + ".schema.json"));
  return nlohmann::json::parse(stream);
}

// The words after the last `before` in a line: "...; accepted: a, b" -> {a, b}.
std::set<std::string> words_after(const std::string& line, const std::string& before) {
  const auto at = line.rfind(before);
  if (at == std::string::npos) return {line};
  std::set<std::string> out;
  std::stringstream rest(line.substr(at + before.size()));
  for (std::string word; rest >> word;) out.insert(word.back() == ',' ? word.substr(0, word.size() - 1) : word);
  return out;
}

std::set<std::string> keys(const nlohmann::json& object) {
  std::set<std::string> out;
  for (const auto& [key, unused] : object.items()) out.insert(key);
  return out;
}

struct Place {
  const char* in_document;   // JSON pointer to an object
  const char* in_schema;     // to its properties
  bool of_one_kind = false;  // the reader accepts those of a table, the schema those of every kind
};

void expect_same_fields(const char* good, const char* schema_name, const std::vector<Place>& places,
                        const std::function<void(const fs::path&)>& read) {
  const Folder folder;
  for (const Place& place : places) {
    const auto changes = std::string(R"({")") + place.in_document + R"(/qqqqqqqqqq": 1})";
    const auto file = folder.write("d.json", changed(good, changes.c_str()).dump());
    const auto accepted = words_after(complaint(folder, [&] { read(file); }), "accepted: ");
    const auto listed = keys(schema(schema_name).at(nlohmann::json::json_pointer(place.in_schema)));
    if (place.of_one_kind) {
      EXPECT_THAT(accepted, testing::IsSubsetOf(listed)) << place.in_document;
    } else {
      EXPECT_EQ(accepted, listed) << place.in_document;
    }
  }
}

TEST(CaseSchema, ListsTheFieldsOfTheReader) {
  expect_same_fields(kCase, "case",
                     {{"", "/properties"},
                      {"/cases/0", "/$defs/case/properties"},
                      {"/cases/0/rope", "/$defs/rope/properties"},
                      {"/cases/0/rope/positions", "/$defs/stepped/properties"},
                      {"/cases/0/subjects/0", "/$defs/subject/properties"},
                      {"/cases/0/checks/0", "/$defs/check/properties"},
                      {"/cases/0/checks/0/expect", "/$defs/any/properties"},
                      {"/cases/0/checks/1/expect/0", "/$defs/expectation/properties"},
                      {"/cases/0/checks/0/limit", "/$defs/limit/properties"}},
                     [](const fs::path& file) { read_case_file(file); });
}

TEST(RecipeSchema, ListsTheFieldsOfTheReader) {
  expect_same_fields(kRecipe, "recipe",
                     {{"", "/properties"},
                      {"/stages", "/properties/stages/properties", true},
                      {"/stages/inv_freq", "/$defs/stage_steps/oneOf/1/properties"},
                      {"/stages/cos/0", "/$defs/step/properties"}},
                     [](const fs::path& file) { read_recipe(file); });
}

struct Words {
  const char* changes;    // a word that no enumeration has
  const char* in_schema;  // to the enumeration
  bool of_one_kind = false;
};

void expect_same_words(const char* good, const char* schema_name, const std::vector<Words>& places,
                       const std::function<void(const fs::path&)>& read) {
  const Folder folder;
  for (const Words& place : places) {
    const auto file = folder.write("d.json", changed(good, place.changes).dump());
    const auto listed =
        schema(schema_name).at(nlohmann::json::json_pointer(place.in_schema)).get<std::set<std::string>>();
    const auto accepted = words_after(complaint(folder, [&] { read(file); }), "one of ");
    if (place.of_one_kind) {
      EXPECT_THAT(accepted, testing::IsSubsetOf(listed)) << place.changes;
    } else {
      EXPECT_EQ(accepted, listed) << place.changes;
    }
  }
}

TEST(CaseSchema, ListsTheWordsOfTheReader) {
  expect_same_words(kCase, "case",
                    {{R"({"/cases/0/dtype": "qqqqqqqqqq"})", "/$defs/dtype/enum"},
                     {R"({"/cases/0/checks/0/stages": ["qqqqqqqqqq"]})", "/$defs/stage/enum", true},
                     {R"({"/cases/0/checks/0/relation": "qqqqqqqqqq"})", "/$defs/check/properties/relation/enum"},
                     {R"({"/cases/0/checks/0/expect": "qqqqqqqqqq"})", "/$defs/verdict/enum"},
                     {R"({"/cases/0/checks/0/limit/unit": "qqqqqqqqqq"})", "/$defs/limit/properties/unit/enum"}},
                    [](const fs::path& file) { read_case_file(file); });
}

TEST(RecipeSchema, ListsTheWordsOfTheReader) {
  expect_same_words(kRecipe, "recipe",
                    {{R"({"/stages/cos/0/op": "qqqqqqqqqq"})", "/$defs/step/properties/op/enum"},
                     {R"({"/stages/positions/0/dtype": "qqqqqqqqqq"})", "/$defs/step/properties/dtype/enum", true},
                     {R"({"/at": "qqqqqqqqqq"})", "/$defs/place/enum"},
                     {R"({"/kernel": "qqqqqqqqqq"})", "/properties/kernel/enum", true},
                     {R"({"/buffers": ["qqqqqqqqqq"]})", "/$defs/stage/enum", true}},
                    [](const fs::path& file) { read_recipe(file); });
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") out.push_back(entry.path());
  return out;
}

nlohmann::json parsed(const fs::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

TEST(CaseSchema, AcceptsEveryCaseFile) {
  const auto files = json_files(kSource / "cases");
  EXPECT_GE(files.size(), 3U);
  for (const fs::path& file : files) {
    EXPECT_THAT(schema_errors(schema("case"), parsed(file)), testing::IsEmpty()) << file;
    EXPECT_GE((file.stem() == "goldens" ? read_golden_case_file(file) : read_case_file(file)).size(), 1U) << file;
  }
}

TEST(RecipeSchema, AcceptsEveryRecipe) {
  for (const fs::path& folder :
       {kSource / "cases/recipes", kSource / "cases/recipes/kernels", kSource / "cases/recipes/faults"}) {
    EXPECT_GE(json_files(folder).size(), 9U);
    for (const fs::path& file : json_files(folder))
      EXPECT_THAT(schema_errors(schema("recipe"), parsed(file)), testing::IsEmpty()) << file;
  }
}

TEST(CaseSchema, RefusesWhatTheReaderRefuses) {
  const Folder folder;
  for (const char* changes :
       {R"({"/schema_version": 2})", R"({"/name": "a b"})", R"({"/cases": []})", R"({"/cases/0/attention": {}})",
        R"({"/cases/0/dtype": "int64"})", R"({"/cases/0/rope/head_dim": 1})", R"({"/cases/0/rope/base": 0})",
        R"({"/cases/0/rope/positions": [1, 1]})", R"({"/cases/0/rope/positions": {"log_spaced": [1], "count": 4}})",
        R"({"/cases/0/subjects/0/device": null})", R"({"/cases/0/subjects/0/program": ["p"]})",
        R"({"/cases/0/subjects/0/recording": "kept"})", R"({"/cases/0/subjects/0/timeout_s": 5})",
        R"({"/cases/0/checks/0/between": ["a", "b"]})", R"({"/cases/0/checks/0/relation": "identity"})",
        R"({"/cases/0/checks/0/expect": {"verdict": "pass", "first_stage": "cos"}})",
        R"({"/cases/0/checks/1/expect": []})", R"({"/cases/0/checks/0/limit/value": -1})"}) {
    const Json document = changed(kCase, changes);
    EXPECT_THAT(schema_errors(schema("case"), nlohmann::json(document)), testing::Not(testing::IsEmpty())) << changes;
    const auto file = folder.write("d.json", document.dump());
    EXPECT_NE(complaint(folder, [&] { read_case_file(file); }), "[no complaint]") << changes;
  }
  EXPECT_THAT(schema_errors(schema("case"), nlohmann::json::parse(kCase)), testing::IsEmpty());
  const Json recording = changed(kCase, R"({"/cases/0/subjects/0": {"recording": "kept", "recipe": "r"}})");
  EXPECT_THAT(schema_errors(schema("case"), nlohmann::json(recording)), testing::IsEmpty());
  const Json plugin = changed(kCase, R"({"/cases/0/subjects/0": {"plugin": "libmine.so", "timeout_s": 5}})");
  EXPECT_THAT(schema_errors(schema("case"), nlohmann::json(plugin)), testing::IsEmpty());
}

TEST(RecipeSchema, RefusesWhatTheReaderRefuses) {
  const Folder folder;
  for (const char* changes :
       {R"({"/schema_version": null})", R"({"/title": null})", R"({"/parent": "p"})", R"({"/wakes": "w"})",
        R"({"/stages/cos": null})", R"({"/stages/cos": []})", R"({"/stages/scores": []})",
        R"({"/stages/cos/0/op": "tan"})", R"({"/stages/cos/0/dtype": "float32"})",
        R"({"/stages/positions/0/dtype": null})", R"({"/stages/angle/0/in": ["positions"]})",
        R"({"/stages/angle/0/in": null})", R"({"/stages/positions/0/in": [1]})", R"({"/stages/cos/0/in": [true]})",
        R"({"/buffers": []})", R"({"/at": "gpu"})", R"({"/kernel": "none"})"}) {
    const Json document = changed(kRecipe, changes);
    EXPECT_THAT(schema_errors(schema("recipe"), nlohmann::json(document)), testing::Not(testing::IsEmpty())) << changes;
    const auto file = folder.write("d.json", document.dump());
    EXPECT_NE(complaint(folder, [&] { read_recipe(file); }), "[no complaint]") << changes;
  }
  EXPECT_THAT(schema_errors(schema("recipe"), nlohmann::json::parse(kRecipe)), testing::IsEmpty());
}

}  // namespace
}  // namespace ropewalk::test
