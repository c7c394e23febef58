// The checks on tensors that are made here: what is right passes, and each smallest fault fails, at its stage.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/checks/accuracy.hpp"
#include "harness/checks/expectations.hpp"
#include "harness/checks/identity.hpp"
#include "harness/checks/invariants.hpp"
#include "harness/recipes/run.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kRows = 400;

Case problem() {
  Case c;
  c.rope.head_dim = 64;
  c.positions.limit = kRows;
  c.dtype = DType::float32;
  return c;
}

Stages stages_of(const std::string& recipe, const Case& c, const std::string& device = "cpu") {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(c.positions.count()));
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = c.positions.at(static_cast<std::int64_t>(r));
  return RecipeRun(find_recipe(recipe), make_device(device), c, false).rows(rows);
}

Result judge(const std::string& stage, const Stages& stages, const std::optional<UserLimit>& limit = {}) {
  const Case c = problem();
  Truth truth(c.rope, c.positions);
  truth.start_block(0, kRows);
  const Budget budget = count_roundings(find_recipe("hf-llama-4.37"), make_device("cpu")->bounds(), c);
  AccuracyCheck check(stage, budget, limit);
  check.add(stages, truth, true);
  Result result;
  check.conclude(result);
  return result;
}

// The stage with one float changed by some units in the last place.
Stages with_change(const std::string& stage, std::size_t at, int ulps) {
  Stages stages = stages_of("hf-llama-4.37", problem());
  Tensor changed = copy_of(stages.at(stage));
  for (int i = 0; i < std::abs(ulps); ++i)
    changed.as<float>()[at] = std::nextafter(changed.as<float>()[at], ulps > 0 ? HUGE_VALF : -HUGE_VALF);
  stages[stage] = changed;
  return stages;
}

TEST(Accuracy, ACorrectTablePassesAtEveryStage) {
  const Stages stages = stages_of("hf-llama-4.37", problem());
  for (const char* stage : {"positions", "inv_freq", "angle", "cos", "sin"}) {
    const Result result = judge(stage, stages);
    EXPECT_EQ(result.verdict, Verdict::pass) << stage;
    EXPECT_LE(result.margin.value_or(0), 1) << stage;
  }
}

TEST(Accuracy, OneElementOffFailsAndIsFound) {
  const std::size_t row = 300, pair = 5, at = row * 32 + pair;
  for (const char* stage : {"angle", "cos", "sin"}) {
    const Result result = judge(stage, with_change(stage, at, 8));
    EXPECT_EQ(result.verdict, Verdict::fail) << stage;
    EXPECT_EQ(result.worst->position, static_cast<std::int64_t>(row)) << stage;
    EXPECT_EQ(result.worst->pair, static_cast<std::int64_t>(pair)) << stage;
  }
  EXPECT_EQ(judge("inv_freq", with_change("inv_freq", 7, 40)).verdict, Verdict::fail);
  EXPECT_EQ(judge("positions", with_change("positions", 9, 1)).verdict, Verdict::fail);
}

// One ulp of an angle is what its product may round twice over; the limit is half an ulp, and no more.
TEST(Accuracy, TheLimitOfTheAngleIsOneRounding) {
  const Result one = judge("angle", with_change("angle", 300 * 32 + 3, 1));
  EXPECT_EQ(one.verdict, Verdict::fail);
  EXPECT_GT(*judge("angle", stages_of("hf-llama-4.37", problem())).margin, 0.9) << "the limit would be slack";
}

TEST(Accuracy, NotANumberNeverPasses) {
  Stages stages = stages_of("hf-llama-4.37", problem());
  for (const float bad : {NAN, INFINITY}) {
    Tensor changed = copy_of(stages.at("cos"));
    changed.as<float>()[100] = bad;
    Stages broken = stages;
    broken["cos"] = changed;
    const Result result = judge("cos", broken);
    EXPECT_EQ(result.verdict, Verdict::fail);
    EXPECT_EQ(result.measured.nan[0] + result.measured.inf[0], 1);
  }
}

TEST(Accuracy, AMissingStageOrAWrongShapeIsAnError) {
  Stages stages = stages_of("hf-llama-4.37", problem());
  stages.erase("sin");
  EXPECT_THROW(judge("sin", stages), SubjectError);
  stages["cos"] = stages.at("cos").rows(0, 10);
  EXPECT_THROW(judge("cos", stages), SubjectError);
}

TEST(Accuracy, WithoutAnglesTheTotalLimitCountsAndStillFindsFaults) {
  Stages good = stages_of("hf-llama-4.37", problem());
  Stages table{{"cos", good.at("cos")}, {"sin", good.at("sin")}};
  EXPECT_EQ(judge("cos", table).verdict, Verdict::pass);
  const Stages wrong = stages_of("inv-freq-bfloat16", problem());
  EXPECT_EQ(judge("cos", {{"cos", wrong.at("cos")}}).verdict, Verdict::fail);
}

TEST(Accuracy, AUsersLimitReplacesTheDerivedOne) {
  const Stages stages = stages_of("hf-llama-4.37", problem());
  EXPECT_EQ(judge("cos", stages, UserLimit{1, "abs", "ours"}).verdict, Verdict::pass);
  EXPECT_EQ(judge("cos", stages, UserLimit{1e-9, "abs", "ours"}).verdict, Verdict::fail);
  EXPECT_EQ(judge("cos", stages, UserLimit{0.25, "ulp", "ours"}).verdict, Verdict::fail);
}

// Limits must fit the widths and bases of the field: no false alarm.
TEST(Accuracy, NoFalseAlarmOverWidthsBasesAndDevices) {
  for (const std::int64_t width : {20, 80, 96, 128})
    for (const double base : {1e4, 5e5, 1000042.0})
      for (const char* device : {"cpu", "cuda-math"})
        for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16, DType::float64}) {
          Case c = problem();
          c.rope.head_dim = width;
          c.rope.base = base;
          c.dtype = dtype;
          c.positions.list = {0, 1, 17, 511, 4095, 32767, 131071, 1048575};
          Truth truth(c.rope, c.positions);
          truth.start_block(0, c.positions.count());
          const Budget budget = count_roundings(find_recipe("hf-llama-4.37"), make_device(device)->bounds(), c);
          const Stages stages = stages_of("hf-llama-4.37", c, device);
          for (const char* stage : {"positions", "inv_freq", "angle", "cos", "sin"}) {
            AccuracyCheck check(stage, budget, {});
            check.add(stages, truth, true);
            Result result;
            check.conclude(result);
            EXPECT_EQ(result.verdict, Verdict::pass)
                << stage << " " << width << " " << base << " " << device << " " << name_of(dtype);
          }
        }
}

Result identical(const std::string& stage, const Stages& a, const Stages& b) {
  const Case c = problem();
  Truth truth(c.rope, c.positions);
  truth.start_block(0, kRows);
  IdentityCheck check(stage);
  check.add(a, b, truth, true);
  Result result;
  result.subjects.resize(2);
  result.subjects[0].name = "a";
  result.subjects[1].name = "b";
  check.conclude(result);
  return result;
}

TEST(Identity, OneBitIsFoundAndTheCloserOneNamed) {
  const Stages good = stages_of("hf-llama-4.37", problem());
  EXPECT_EQ(identical("cos", good, good).verdict, Verdict::pass);
  const Result result = identical("cos", with_change("cos", 77 * 32 + 4, 5), good);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.measured.mismatched, 1);
  EXPECT_EQ(result.worst->position, 77);
  EXPECT_EQ(result.worst->pair, 4);
}

TEST(Identity, NotANumberOnBothSidesAndZerosAreNoPass) {
  Stages stages = stages_of("hf-llama-4.37", problem());
  Tensor nan = copy_of(stages.at("cos"));
  nan.as<float>()[3] = NAN;
  const Stages both{{"cos", nan}};
  EXPECT_EQ(identical("cos", both, both).verdict, Verdict::fail);
  const Stages zeros{{"cos", Tensor(DType::float32, {kRows, 32})}};
  EXPECT_EQ(identical("cos", zeros, zeros).verdict, Verdict::untrusted);
}

TEST(Identity, APromotedDtypeIsADifference) {
  const Stages good = stages_of("hf-llama-4.37", problem());
  Stages wide = good;
  wide["cos"] = make_device("cpu")->apply(Op::cast, std::vector<Argument>{good.at("cos")}, DType::float64);
  EXPECT_EQ(identical("cos", wide, good).verdict, Verdict::fail);
}

Result invariant(const std::string& stage, const Stages& stages) {
  const Case c = problem();
  Truth truth(c.rope, c.positions);
  truth.start_block(0, kRows);
  const Budget budget = count_roundings(find_recipe("hf-llama-4.37"), make_device("cpu")->bounds(), c);
  InvariantsCheck check(stage, budget);
  check.add(stages, truth, true);
  Result result;
  check.conclude(result);
  return result;
}

TEST(Invariants, EachFailsOnItsFault) {
  const Stages good = stages_of("hf-llama-4.37", problem());
  for (const char* stage : {"inv_freq", "angle", "cos", "sin"})
    EXPECT_EQ(invariant(stage, good).verdict, Verdict::pass) << stage;
  const auto changed = [&](const std::string& stage, std::size_t at, float value) {
    Stages stages = good;
    Tensor t = copy_of(good.at(stage));
    t.as<float>()[at] = value;
    stages[stage] = t;
    return stages;
  };
  EXPECT_EQ(invariant("sin", changed("sin", 500, 13.287F)).verdict, Verdict::fail);      // mlx 4157
  EXPECT_EQ(invariant("cos", changed("cos", 3, 0.9999F)).verdict, Verdict::fail);        // row 0
  EXPECT_EQ(invariant("cos", changed("cos", 32 * 50, 0.1234F)).verdict, Verdict::fail);  // squares
  const Result bits = invariant("angle", stages_of("angle-autocast-bfloat16", problem()));
  EXPECT_EQ(bits.verdict, Verdict::fail);
  EXPECT_EQ(bits.details["significand_bits"]["used"], 8);  // transformers 29285
}

TEST(Expectations, ABareFailNeedsOneFailure) {
  CheckSpec check;
  check.expect_any_fail = true;
  Result pass, fail;
  fail.verdict = Verdict::fail;
  settle_any_fail({&pass, &fail}, check, true);
  EXPECT_FALSE(pass.unexpected);
  EXPECT_FALSE(fail.unexpected);
  Result alone;
  settle_any_fail({&alone}, check, true);
  EXPECT_TRUE(alone.unexpected);
  settle_any_fail({&alone}, check, false);
  EXPECT_FALSE(alone.unexpected) << "a filter left the others out";
}

TEST(Expectations, TheFirstMatchDecides) {
  CheckSpec check;
  check.expect = {{{{"dtype", {"bfloat16", "float16"}}}, Verdict::fail, "inv_freq"},
                  {{{"stage", "sin"}}, Verdict::skipped, ""}};
  Result result;
  result.dtype = DType::bfloat16;
  result.verdict = Verdict::fail;
  result.first_stage = "inv_freq";
  settle(result, check);
  EXPECT_FALSE(result.unexpected);
  result.first_stage = "angle";
  settle(result, check);
  EXPECT_TRUE(result.unexpected);
  result.dtype = DType::float32;
  settle(result, check);
  EXPECT_TRUE(result.unexpected) << "nothing matches: pass is expected";
}

}  // namespace
}  // namespace ropewalk
