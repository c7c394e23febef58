// Tables of positions on several axes that a program or a file gives, held to the plain recipe of such axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/tensors/safetensors.hpp"
#include "tests/harness/checks/one_case.hpp"

namespace ropewalk::test {
namespace {

using testing::HasSubstr;

const std::string kBlocked = R"("rope": {"head_dim": 64, "base": 1000000, "mrope_section": [8, 12, 12],
    "positions": {"tokens": [3, [1, 4, 6], {"log_spaced": [100, 131071], "count": 9}]}})";
const std::string kInterleaved = R"("rope": {"head_dim": 64, "base": 5000000, "mrope_section": [12, 10, 10],
    "mrope_interleaved": true, "positions": {"tokens": [3, [1, 4, 6], {"log_spaced": [100, 131071], "count": 9}]}})";
const std::string kAxial = R"("rope": {"head_dim": 80, "axial": true, "positions": {"tokens": [[4, 6]]}})";
const std::string kDTypes = R"(["float32", "bfloat16"])";

// `more`: fields of the subject, with a comma before them.
std::vector<Result> of_program(const std::string& problem, const std::string& wrong, const std::string& check,
                               const std::string& dtypes = kDTypes, const std::string& more = "") {
  return results_of(problem, dtypes,
                    R"({"name": "p", "program": ["python3", ")" ROPEWALK_TEST_DIR R"(/data/programs/axes.py", ")" +
                        wrong + "\"]" + more + "}",
                    check);
}

struct Known {
  std::string problem;
  const char* claims;
};
const Known kKnown[] = {
    {kBlocked, "fp32-rounded-once"}, {kInterleaved, "fp32-rounded-once"}, {kAxial, "fp32-rounded-once-axial"}};

TEST(OutsideAxes, ARightProgramPassesAtEveryStage) {
  for (const Known& known : kKnown) {
    const auto results =
        of_program(known.problem, "right", R"({"relation": "accuracy", "stages": ["inv_freq", "angle", "cos", "sin"]},
        {"relation": "invariants", "stages": ["cos", "sin"]})");
    EXPECT_EQ(results.size(), 2U * 6U);
    for (const Result& result : results) {
      EXPECT_EQ(result.verdict, Verdict::pass) << result.id << ' ' << result.reason;
      EXPECT_EQ(result.subjects[0].claims, known.claims) << result.id;
      if (result.relation == Relation::accuracy) {
        EXPECT_THAT(result.total_limit->source, HasSubstr(std::string("roundings of ") + known.claims + " "));
        EXPECT_GT(result.total_limit->value, 0) << result.id;
      }
    }
  }
}

TEST(OutsideAxes, AWrongProgramFailsAtItsStage) {
  struct Fault {
    const char *wrong, *stage;
  };
  for (const Known& known : kKnown)
    for (const Fault& fault : {Fault{"exchanged", "angle"}, Fault{"restarts", "inv_freq"}})
      for (const Result& result :
           of_program(known.problem, fault.wrong, R"({"relation": "accuracy", "stages": ["cos", "sin"]})")) {
        EXPECT_EQ(result.verdict, Verdict::fail) << fault.wrong << ' ' << result.id << ' ' << result.reason;
        EXPECT_EQ(result.first_stage, fault.stage) << fault.wrong << ' ' << result.id;
      }
}

// The program does not look at the scaling.
TEST(OutsideAxes, ADroppedScalingIsFoundInTheFrequencies) {
  const std::string yarn = R"("scaling": "yarn", "factor": 4, "original_max_position_embeddings": 32768, )";
  const std::string scaled = std::string(kInterleaved).insert(kInterleaved.find("\"base\""), yarn);
  for (const Result& result : of_program(scaled, "right", R"({"relation": "accuracy", "stages": ["cos", "sin"]})")) {
    EXPECT_EQ(result.verdict, Verdict::fail) << result.id << ' ' << result.reason;
    EXPECT_EQ(result.first_stage, "inv_freq") << result.id;
  }
}

// Right angles, but cosines and sines with four bits less than float32 has.
TEST(OutsideAxes, ACoarseProgramFailsWhereItRounds) {
  for (const Result& result :
       of_program(kAxial, "rounded", R"({"relation": "accuracy", "stages": ["cos", "sin"]})", R"("float32")")) {
    EXPECT_EQ(result.verdict, Verdict::fail) << result.id;
    EXPECT_EQ(result.first_stage, "cos") << result.id;
  }
}

TEST(OutsideAxes, ACaseMayHaveItsOwnLimit) {
  const auto results = of_program(kAxial, "right", R"(
      {"relation": "accuracy", "stages": ["cos"], "limit": {"value": 1, "unit": "ulp", "source": "the test"}},
      {"relation": "accuracy", "stages": ["sin"], "limit": {"value": 0.25, "unit": "ulp", "source": "the test"}})");
  ASSERT_EQ(results.size(), 4U);
  for (const Result& result : results)
    EXPECT_EQ(result.verdict, result.stage == "cos" ? Verdict::pass : Verdict::fail) << result.id << result.reason;
}

// A claim of other axes is refused as before, with the reason.
TEST(OutsideAxes, AClaimOfOtherAxesGivesNoLimit) {
  for (const Result& result : of_program(kAxial, "right", R"({"relation": "accuracy", "stages": ["cos"]})",
                                         R"("float32")", R"(, "claims": "fp32-rounded-once")")) {
    EXPECT_EQ(result.verdict, Verdict::skipped);
    EXPECT_THAT(result.reason, HasSubstr("takes positions of one axis, the case has axial positions"));
  }
}

// Rows 0 to 2 and columns 0 and 1, two pairs of frequency 1: cosines of the row, then of the column.
TEST(OutsideAxes, AFileOfAxialTablesNeedsNoClaims) {
  const Folder folder;
  Tensor cosines(DType::float32, {6, 2}), sines(DType::float32, {6, 2});
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 2; ++column)
      for (std::size_t j = 0; j < 2; ++j) {
        const std::size_t at = (row * 2 + column) * 2 + j;
        cosines.as<float>()[at] = static_cast<float>(std::cos(static_cast<double>(j == 0 ? row : column)));
        sines.as<float>()[at] = static_cast<float>(std::sin(static_cast<double>(j == 0 ? row : column)));
      }
  const auto judged = [&](const std::string& cos, const std::string& sin) {
    write_safetensors(folder.path() / "t.safetensors", {{cos, cosines}, {sin, sines}});
    return results_of(R"("rope": {"head_dim": 4, "axial": true, "positions": {"tokens": [[3, 2]]}})", R"("float32")",
                      R"({"name": "f", "tensors": ")" + (folder.path() / "t.safetensors").string() + "\"}",
                      R"({"relation": "accuracy"})");
  };
  for (const Result& result : judged("cos", "sin"))
    EXPECT_EQ(result.verdict, Verdict::pass) << result.id << ' ' << result.reason;
  std::swap_ranges(cosines.as<float>().begin() + 2, cosines.as<float>().begin() + 4, cosines.as<float>().begin() + 4);
  const auto results = judged("cos", "sin");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].verdict, Verdict::fail);
  EXPECT_EQ(results[0].first_stage, "cos");
  EXPECT_EQ(results[1].verdict, Verdict::pass);
}

}  // namespace
}  // namespace ropewalk::test
