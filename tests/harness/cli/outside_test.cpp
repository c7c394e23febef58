// What is not ropewalk's own, from a case file to the report: plug-ins, and files of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

std::string report_path() { return (scratch() / "report.json").string(); }

Outcome run(const std::string& file) {
  return ropewalk_says("run --quiet --all-results --report " + report_path() + " " + file);
}

TEST(Outside, APlugInThatCrashesLeavesTheRestWhole) {
  const auto one = [](const char* name, const std::string& library, const char* expected) {
    return nlohmann::json{{"name", name},
                          {"rope", {{"head_dim", 16}, {"base", 10000}, {"max_position", 64}}},
                          {"dtype", "float32"},
                          {"subjects", {{{"name", "mine"}, {"plugin", library}}}},
                          {"checks", {{{"relation", "accuracy"}, {"expect", expected}}}}};
  };
  const std::string bad = ROPEWALK_PLUGINS "/misbehave_CRASH.so";
  const auto file = scratch() / "plugins.json";
  std::ofstream(file) << nlohmann::json{
      {"schema_version", 1},
      {"name", "plugins"},
      {"cases", {one("first", bad, "error"), one("good", ROPEWALK_EXAMPLE_PLUGIN, "pass"), one("last", bad, "error")}}};
  const Outcome outcome = run(file.string());
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto report = nlohmann::json::parse(text_of(report_path()));
  std::map<std::string, int> verdicts;
  for (const auto& result : report["results"]) {
    ++verdicts[result["verdict"]];
    if (result["verdict"] == "error") {
      EXPECT_THAT(result["reason"].get<std::string>(), AnyOf(HasSubstr("SIGSEGV"), HasSubstr("==ABORTING")));
    } else {
      EXPECT_EQ(result["subjects"][0]["program"], ROPEWALK_EXAMPLE_PLUGIN);
    }
  }
  EXPECT_GE(verdicts["error"], 2);
  EXPECT_GE(verdicts["pass"], 2);
  EXPECT_EQ(verdicts.size(), 2U);
  EXPECT_TRUE(report["complete"].get<bool>());
}

TEST(Outside, FilesOfEveryKind) {
  const Outcome outcome = run(case_file("files.json"));
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto report = nlohmann::json::parse(text_of(report_path()));
  EXPECT_EQ(report["summary"]["pass"], 4);
  EXPECT_EQ(report["summary"]["fail"], 1);
}

TEST(Outside, AFileWithCodeIsBadInput) {
  const auto file = scratch() / "code.json";
  std::ofstream(file) << R"({"schema_version": 1, "name": "code", "cases": [{"name": "c",
    "rope": {"head_dim": 4, "base": 10000, "max_position": 8}, "dtype": "float32",
    "subjects": [{"name": "pt", "tensors": ")" ROPEWALK_TEST_DIR R"(/data/tensors/code.pt"}],
    "checks": [{"relation": "accuracy"}]}]})";
  const Outcome outcome = run(file.string());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr(R"(code.pt: member "code/data.pkl": pickle: global "posix.system": refused)"));
}

}  // namespace
}  // namespace ropewalk
