// Kernels and devices as a user sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::json;

Json devices() { return Json::parse(ropewalk_says("devices --json").out); }

Json device(const std::string& name) {
  for (Json one : devices())
    if (one["name"] == name) return one;
  return {};
}

TEST(Devices, SayWhatTheirFunctionsAreWorth) {
  std::set<std::string> words;
  for (const Json& one : devices()) {
    EXPECT_FALSE(one["versions"].get<std::string>().empty()) << one["name"];
    EXPECT_EQ(one["available"], one["reason"].is_null()) << one["name"];
    for (const Json& note : one["functions"]) words.insert(note["reliance"].get<std::string>());
  }
  EXPECT_THAT(words, testing::ElementsAre("bounded", "emulated", "exact", "refused"));
  EXPECT_EQ(devices().size(), 4U);
  EXPECT_TRUE(device("cuda-kernels")["available"]);
  const std::string text = ropewalk_says("devices").out;
  for (const char* line : {"cuda-kernels ", "  refused   approximations", "  emulated  sin cos: bit for bit"})
    EXPECT_THAT(text, testing::HasSubstr(line));
}

TEST(Devices, WithoutAGpuTheKernelsAreTwinsAndSayWhy) {
  const Json kernels = device("cuda-kernels");
  if (!kernels["emulated"]) GTEST_SKIP() << "a GPU is here";
  EXPECT_THAT(kernels["versions"].get<std::string>(), testing::StartsWith("host twins ("));
}

Json fast_results(const std::string& position) {
  const auto report = scratch() / "report.json";
  ropewalk_says("run " ROPEWALK_SOURCE_DIR
                "/cases/kernels.json --quiet --all-results --filter 'tables-fast/.*max_position=" +
                position + "/' --report " + report.string());
  return Json::parse(text_of(report))["results"];
}

TEST(Fast, IsBoundedByDocumentsPositionByPosition) {
  if (!device("cuda-kernels")["emulated"]) GTEST_SKIP() << "a GPU is here, which runs them";
  const double cosine = std::exp2(-21.19), sine = std::exp2(-21.41);
  int seen = 0;
  for (const Json& result : fast_results("4096")) {
    EXPECT_EQ(result["verdict"], "skipped");
    EXPECT_THAT(result["reason"].get<std::string>(), testing::HasSubstr("bounded by documentation, not run"));
    const Json& bounded = result["details"]["bounded"];
    const bool reduced = result["subjects"][0]["name"] == "fast-reduced";
    EXPECT_EQ(bounded["elements"], 4096 * 64);
    EXPECT_EQ(bounded["elements_without_a_bound"] == 0, reduced);
    const Json& bands = bounded["by_position"];
    EXPECT_EQ(bands.front()["last"], 0);
    EXPECT_EQ(bands.back()["last"], 4095);
    const double least = result["stage"] == "cos" ? cosine : sine;
    // Position 1 has angles up to 1; the reduction adds what it rounds.
    EXPECT_GE(bands[1]["max_abs"].get<double>(), least);
    EXPECT_LE(bands[1]["max_abs"].get<double>(), least + (reduced ? 0x1p-22 : 0) + 8 * 0x1p-24);
    // A documented bound holds at 4095 only for angles up to 100 pi, where it is 2^-14.7, or for reduced ones.
    const double last = bands.back()["max_abs"].get<double>();
    if (reduced) {
      EXPECT_LT(last, 0x1p-9);
    } else {
      EXPECT_GT(last, std::exp2(-14.7));
    }
    ++seen;
  }
  EXPECT_EQ(seen, 4);
}

}  // namespace
}  // namespace ropewalk
