// What docs/gate.md shows: parsed, and run in a folder laid out like a model's repository.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/harness/cli/documents.hpp"
#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kDocument = ROPEWALK_SOURCE_DIR "/docs/gate.md";

// A repository with the case file of the document, its adapter, and ropewalk beside it and on the path.
class Repository : public testing::Test {
 protected:
  Repository() : path_(scratch() / "repository") {
    fs::remove_all(path_);
    fs::create_directories(path_ / "ci");
    fs::create_directories(path_ / "ropewalk/build");
    fs::create_symlink(ROPEWALK_PROGRAM, path_ / "ropewalk/build/ropewalk");
    fs::copy(ROPEWALK_SOURCE_DIR "/harness/adapters/plain_python.py", path_ / "ci/rope_adapter.py");
    write_case(nlohmann::json::parse(blocks(kDocument, "json").at(0)));
  }
  void write_case(const nlohmann::json& document) const { std::ofstream(path_ / "ci/rope.json") << document; }
  Outcome in_repository(const std::string& command) const {
    return shell("cd " + path_.string() + " && PATH=$PWD/ropewalk/build:$PATH && " + command);
  }
  nlohmann::json report(const std::string& file) const { return nlohmann::json::parse(text_of(path_ / file)); }
  // The case with a recipe, under the name "ours", as its subject; its checks get these fields besides.
  nlohmann::json with_recipe(const std::string& recipe, const nlohmann::json& more) const {
    auto document = nlohmann::json::parse(blocks(kDocument, "json").at(0));
    auto& a_case = document["cases"][0];
    a_case["subjects"] = {{{"name", "ours"}, {"recipe", recipe}, {"device", "cuda-math"}}};
    a_case["checks"] = {{{"relation", "accuracy"}, {"stages", {"cos", "sin"}}}};
    a_case["checks"][0].update(more);
    return document;
  }

  fs::path path_;
};

std::vector<std::string> matches(const std::string& text, const std::string& expression) {
  const std::regex pattern(expression);
  std::vector<std::string> out;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern); it != std::sregex_iterator(); ++it)
    out.push_back((*it)[1]);
  return out;
}

TEST_F(Repository, TheCaseFileHasTenLinesAndPasses) {
  const std::string text = blocks(kDocument, "json").at(0);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 11);
  const Outcome outcome = in_repository("ropewalk run ci/rope.json --report r.json");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(report("r.json")["summary"]["pass"], report("r.json")["summary"]["checks"]);
}

TEST_F(Repository, TheWorkflowsStepsRun) {
  ASSERT_EQ(in_repository("ropewalk run ci/rope.json --quiet --report ci/rope-baseline.json").code, 0);
  const auto steps = matches(blocks(kDocument, "yaml").at(0), "run: (ropewalk/build/ropewalk [^\n]*)");
  ASSERT_EQ(steps.size(), 2U);
  for (const std::string& step : steps) {
    const Outcome outcome = in_repository(step);
    EXPECT_EQ(outcome.code, 0) << step << outcome.err;
  }
  EXPECT_TRUE(fs::exists(path_ / "rope-junit.xml"));
  for (const std::string& script : matches(blocks(kDocument, "yaml").at(0), "run: ropewalk/(script/[a-z]+)"))
    EXPECT_TRUE(fs::exists(std::string(ROPEWALK_SOURCE_DIR "/") + script)) << script;
}

TEST_F(Repository, ThePreCommitHookRuns) {
  const auto entries = matches(blocks(kDocument, "yaml").at(1), "entry: ([^\n]*)");
  ASSERT_EQ(entries.size(), 1U);
  const Outcome outcome = in_repository(entries[0]);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const auto pattern = matches(blocks(kDocument, "yaml").at(1), "files: ([^\n]*)");
  EXPECT_TRUE(std::regex_search("model/rotary_embedding.py", std::regex(pattern.at(0))));
  EXPECT_FALSE(std::regex_search("model/attention.py", std::regex(pattern.at(0))));
}

TEST_F(Repository, TheCommandsOfTheBaselineRun) {
  for (const std::string& line : matches(blocks(kDocument, "sh").at(2), "(ropewalk [^#\n]*)"))
    EXPECT_EQ(in_repository(line).code, 0) << line;
  auto worse = report("rope-report.json");
  for (auto& result : worse["results"])
    result["margin"] = result["margin"].is_null() ? 1 : 1.05 * result["margin"].get<double>();
  std::ofstream(path_ / "worse.json") << worse;
  EXPECT_EQ(in_repository("ropewalk compare ci/rope-baseline.json worse.json").code, 1);
  EXPECT_EQ(in_repository("ropewalk compare ci/rope-baseline.json worse.json --growth 0.1").code, 0);
}

TEST_F(Repository, ARequiredDeviceThatIsMissingIsThree) {
  if (ropewalk_says("devices").out.find("cuda          available") != std::string::npos)
    GTEST_SKIP() << "a GPU is here";
  const auto commands = matches(blocks(kDocument, "sh").at(0), "(ropewalk [^#\n]*)");
  EXPECT_EQ(in_repository(commands.at(0) + " --report r.json").code, 3);
}

TEST_F(Repository, KnownFailuresMayStayAndMustNotGrow) {
  const auto store = matches(blocks(kDocument, "sh").at(1), "(ropewalk [^#\n]*)").at(0);
  const auto check = nlohmann::json::parse(blocks(kDocument, "json").at(1));
  const std::string run = "ropewalk run ci/rope.json --report r.json";
  write_case(with_recipe("angle-stored-float16", nlohmann::json::object()));
  ASSERT_EQ(in_repository(store).code, 1);

  write_case(with_recipe("angle-stored-float16", check));
  const Outcome same = in_repository(run);
  EXPECT_EQ(same.code, 0) << same.out;
  EXPECT_GT(report("r.json")["summary"]["fail"], 0);
  EXPECT_EQ(in_repository("ropewalk validate ci/rope.json").code, 0);

  write_case(with_recipe("angle-stored-bfloat16", check));
  const Outcome grown = in_repository(run);
  EXPECT_EQ(grown.code, 1);
  const std::string shown = blocks(kDocument, "text").at(0);
  EXPECT_THAT(grown.out, HasSubstr(shown.substr(0, shown.size() - 1)));

  write_case(with_recipe("inv-freq-bfloat16", check));
  const Outcome elsewhere = in_repository(run);
  EXPECT_EQ(elsewhere.code, 1);
  EXPECT_THAT(elsewhere.out, HasSubstr("in the accepted report at angle"));

  write_case(with_recipe("hf-llama-5.24", check));
  EXPECT_EQ(in_repository(run).code, 0) << "what no longer fails is as expected";

  fs::remove(path_ / "ci/rope-accepted.json");
  const Outcome missing = in_repository(run);
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("ci/rope-accepted.json"));
}

// By PyYAML where it is installed, and always by what any YAML of this simple kind keeps to: blocks that are indented
// by two, of `key: value`, `key:`, `- item`, and lines of a literal after `|`.
TEST(GateDocument, ItsYamlIsYaml) {
  const auto texts = blocks(kDocument, "yaml");
  ASSERT_EQ(texts.size(), 2U);
  const bool parser = shell("python3 -c 'import yaml'").code == 0;
  const std::regex line("( *)((- )?[A-Za-z_-]+:( [^ ].*)?|- [^ ].*)");
  for (const std::string& text : texts) {
    const fs::path file = scratch() / "document.yaml";
    std::ofstream(file) << text;
    if (parser) {
      const Outcome outcome = shell(
          "python3 -c 'import sys, yaml; d = yaml.safe_load(open(sys.argv[1])); "
          "assert isinstance(d, dict) and len(d) >= 1' " +
          file.string());
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    }
    std::istringstream stream(text);
    std::size_t literal = std::string::npos, before = 0;  // indentation of a literal's key, of the line before
    bool opened = true;                                   // the line before ends with a colon
    for (std::string l; std::getline(stream, l);) {
      const std::size_t indent = l.find_first_not_of(' ');
      ASSERT_NE(indent, std::string::npos) << "an empty line";
      if (literal != std::string::npos && indent > literal) continue;
      literal = std::string::npos;
      std::smatch parts;
      ASSERT_TRUE(std::regex_match(l, parts, line)) << l;
      EXPECT_EQ(indent % 2, 0U) << l;
      EXPECT_LE(indent, before + (opened ? 2 : 0)) << l;
      opened = l.back() == ':';
      before = indent + (parts[3].matched ? 2 : 0);
      if (l.back() == '|') literal = before;
    }
  }
}

}  // namespace
}  // namespace ropewalk
