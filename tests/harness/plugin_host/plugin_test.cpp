// Plug-ins as subjects: the example, and one for each way to break what ropewalk_plugin.h asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "harness/subjects/subject.hpp"
#include "tests/harness/subjects/problems.hpp"

namespace ropewalk {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::unique_ptr<Subject> subject(const std::filesystem::path& library, double timeout_s = 30) {
  SubjectSpec spec;
  spec.name = "mine";
  spec.plugin = library;
  spec.timeout_s = timeout_s;
  return make_plugin_subject(spec, "/");
}

std::filesystem::path misbehaving(const std::string& mode) {
  return std::filesystem::path(ROPEWALK_PLUGINS) / ("misbehave_" + mode + ".so");
}

Stages table(const std::filesystem::path& library, const Case& problem = two_pairs(DType::float32)) {
  const auto made = subject(library);
  made->prepare(problem);
  return made->rows(0, problem.positions.count());
}

// "error: reason" or "skipped: reason".
std::string refusal(const std::filesystem::path& library, double timeout_s = 30) {
  try {
    subject(library, timeout_s)->prepare(two_pairs(DType::float32));
  } catch (const SubjectError& error) {
    return std::string("error: ") + error.what();
  } catch (const SubjectUnsupported& skipped) {
    return std::string("skipped: ") + skipped.what();
  }
  return "no complaint";
}

TEST(Plugin, TheExampleComputesInFloat) {
  const Stages got = table(ROPEWALK_EXAMPLE_PLUGIN, two_pairs(DType::float32, {0, 3, 131071}));
  ASSERT_EQ(got.size(), 4U);
  const auto inv_freq = got.at("inv_freq").as<float>(), angle = got.at("angle").as<float>();
  EXPECT_EQ(inv_freq[1], 1 / std::pow(10000.0F, 0.5F));
  EXPECT_EQ(angle[5], 131071.0F * inv_freq[1]);
  for (std::size_t i = 0; i < angle.size(); ++i) {
    EXPECT_EQ(got.at("cos").as<float>()[i], std::cos(angle[i]));
    EXPECT_EQ(got.at("sin").as<float>()[i], std::sin(angle[i]));
  }
}

TEST(Plugin, TheExampleAnswersOneCaseAfterAnother) {
  const auto made = subject(ROPEWALK_EXAMPLE_PLUGIN);
  made->prepare(two_pairs(DType::float32, {1}));
  const float one = made->rows(0, 1).at("sin").as<float>()[0];
  EXPECT_EQ(one, std::sin(1.0F));
  EXPECT_THROW(made->prepare(two_pairs(DType::float16)), SubjectUnsupported);
  made->prepare(two_pairs(DType::float32, {7, 8}));
  EXPECT_EQ(made->rows(1, 1).at("sin").as<float>()[0], std::sin(8.0F));
  EXPECT_THAT(made->info().program, HasSubstr("example_table"));
}

TEST(Plugin, ACrashIsAnErrorAndNoMore) {
  // The address sanitizer, where it is in the host, catches the signal and exits.
  EXPECT_THAT(refusal(misbehaving("CRASH")),
              AnyOf(HasSubstr("error: it was killed by SIGSEGV"), HasSubstr("==ABORTING")));
  EXPECT_THAT(refusal(misbehaving("ABORT")), AllOf(HasSubstr("SIGABRT"), HasSubstr("free(): invalid pointer")));
  EXPECT_THAT(refusal(misbehaving("EXIT")), HasSubstr("error: it exited with code 0 instead of an answer"));
  EXPECT_THAT(refusal(misbehaving("HANG"), 0.5), HasSubstr("error: no answer within 0.5 s"));
}

TEST(Plugin, LibrariesThatAreNone) {
  EXPECT_THAT(refusal(std::filesystem::path(ROPEWALK_PLUGINS) / "no_describe.so"),
              AllOf(HasSubstr("error: its answer to describe is not ok"), HasSubstr("exports no ropewalk_describe")));
  const TestFolder folder;
  std::ofstream(folder.path / "text.so") << "no library\n";
  EXPECT_THAT(refusal(folder.path / "text.so"), AllOf(HasSubstr("the plug-in cannot be loaded"), HasSubstr("text.so")));
  EXPECT_THAT(refusal(folder.path / "missing.so"), HasSubstr("the plug-in cannot be loaded"));
  EXPECT_THAT(refusal(misbehaving("NULL_DESCRIPTION")), HasSubstr("ropewalk_describe returns no text"));
  EXPECT_THAT(refusal(misbehaving("NO_JSON")), HasSubstr("ropewalk_describe returns no JSON object"));
  EXPECT_THAT(refusal(misbehaving("OTHER_PROTOCOL")), HasSubstr(R"(has not \"protocol\": 1)"));
  EXPECT_THAT(refusal(misbehaving("NO_OPERATIONS")), HasSubstr("skipped: the program does not offer rope_table"));
}

TEST(Plugin, StatusesOtherThanOk) {
  EXPECT_THAT(refusal(misbehaving("UNSUPPORTED")), HasSubstr(R"(skipped: the program says: "not this base")"));
  EXPECT_THAT(refusal(misbehaving("FAILED")), HasSubstr(R"(error: the program says: "out of \"memory\"\nreally")"));
  EXPECT_THAT(refusal(misbehaving("ODD_STATUS")), HasSubstr("the plug-in returned status 7; accepted: 0, 1, 2"));
}

TEST(Plugin, OutputsThatAreNone) {
  EXPECT_THAT(refusal(misbehaving("TWICE")), HasSubstr("output cos: given twice"));
  EXPECT_THAT(refusal(misbehaving("WRONG_SHAPE")), HasSubstr("error: cos has shape [2, 2]; accepted: [3, 2]"));
  EXPECT_THAT(refusal(misbehaving("WRONG_DTYPE")), HasSubstr("error: cos is int32; accepted: float32"));
  EXPECT_THAT(refusal(misbehaving("ODD_DTYPE")), HasSubstr("output cos: dtype with code 2, 32 bits, 4 lanes"));
  EXPECT_THAT(refusal(misbehaving("NEGATIVE_SIZE")), HasSubstr("output cos: a negative size"));
  EXPECT_THAT(refusal(misbehaving("NO_DATA")), HasSubstr("output cos: no data"));
  EXPECT_THAT(refusal(misbehaving("ON_A_GPU")), HasSubstr("output cos: on device type 2; accepted: 1, the CPU"));
  EXPECT_THAT(refusal(misbehaving("NOTHING")), HasSubstr("error: its outputs hold none of"));
}

std::string between(const std::string& text, const std::string& opening, const std::string& closing) {
  const std::size_t start = text.find(opening) + opening.size();
  return text.substr(start, text.find(closing, start) - start);
}

// docs/plugins.md: its one-line build in a copy of the folder, and its case file beside the result.
TEST(PluginDocs, TheCommandBuildsWhatTheCaseFileNames) {
  const std::filesystem::path adapters = ROPEWALK_SOURCE_DIR "/harness/adapters";
  const TestFolder folder;
  const auto example = folder.path / "example_plugin";
  std::filesystem::copy(adapters / "example_plugin", example);
  std::filesystem::copy(adapters / "ropewalk_plugin.h", folder.path);
  std::ostringstream text;
  text << std::ifstream(ROPEWALK_SOURCE_DIR "/docs/plugins.md").rdbuf();
  const std::string command = between(text.str(), "or `cc ", "`");
  ASSERT_EQ(std::system(("cd " + example.string() + " && cc " + command).c_str()), 0) << command;
  std::ofstream(example / "case.json") << between(text.str(), "```json\n", "```");
  const Case problem = read_case_file(example / "case.json").at(0);
  const auto made = make_plugin_subject(problem.subjects.at(0), example);
  made->prepare(problem);
  EXPECT_EQ(made->rows(0, 4096).at("sin").as<float>()[64], std::sin(1.0F));
}

TEST(Plugin, WhatItPrintsIsNoAnswer) { EXPECT_EQ(to_doubles(table(misbehaving("PRINTS")).at("cos"))[0], 1); }

TEST(Plugin, StridesAndOffsetsAreFollowed) {
  EXPECT_EQ(to_doubles(table(misbehaving("STRIDED")).at("cos")), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

TEST(Plugin, NansComeAsTheyAre) { EXPECT_TRUE(std::isnan(to_doubles(table(misbehaving("NANS")).at("cos"))[3])); }

}  // namespace
}  // namespace ropewalk
