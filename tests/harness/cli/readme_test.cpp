// What the README shows must work as it stands there.
#include <gtest/gtest.h>

#include <regex>

#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

std::string readme() { return text_of(ROPEWALK_SOURCE_DIR "/README.md"); }

TEST(Readme, TheCaseFileRuns) {
  const std::string text = readme();
  const std::size_t from = text.find("```json\n") + 8;
  const auto folder = scratch() / "repo";
  std::filesystem::create_directories(folder);
  std::filesystem::create_directory_symlink(ROPEWALK_SOURCE_DIR "/harness", folder / "harness");
  std::ofstream(folder / "case.json") << text.substr(from, text.find("```", from) - from);
  const Outcome outcome =
      ropewalk_says("run " + (folder / "case.json").string() + " --report " + (folder / "report.json").string());
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

// The commands that script/run passes on; `run` itself is tested on the same files elsewhere.
TEST(Readme, TheCommandsExist) {
  const std::string text = readme();
  const std::regex line("\nscript/run ([a-z]+)([^#\n]*)#");
  int seen = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), line); it != std::sregex_iterator(); ++it, ++seen) {
    const std::string command = (*it)[1] == "run" ? "list" : (*it)[1].str();
    const Outcome outcome = shell("cd " ROPEWALK_SOURCE_DIR " && " ROPEWALK_PROGRAM " " + command + (*it)[2].str());
    EXPECT_EQ(outcome.code, 0) << command << (*it)[2] << outcome.err;
    EXPECT_FALSE(outcome.out.empty());
  }
  EXPECT_GE(seen, 5);
}

TEST(Readme, ItsLinksLeadSomewhere) {
  const std::string text = readme();
  const std::regex link(R"(\]\(([^)#:]+)\))");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), link); it != std::sregex_iterator(); ++it)
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(ROPEWALK_SOURCE_DIR) / (*it)[1].str())) << (*it)[1];
}

}  // namespace
}  // namespace ropewalk
