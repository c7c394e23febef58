// Attention and LoRA from the case file to the verdict: what is right passes, each known fault fails where it enters.
#include "harness/checks/whole_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/cases/inputs.hpp"
#include "harness/checks/whole_accuracy.hpp"
#include "harness/recipes/whole_run.hpp"
#include "tests/harness/checks/one_case.hpp"

namespace ropewalk {
namespace {

using test::on_cpu;
using test::results_of;
using testing::HasSubstr;

constexpr const char* kGrouped =
    R"("lora": {"heads": 4, "groups": 2, "head_dim": 2, "embedding": 12, "r": 4, "alpha": 16, "enable": [true, false, true],
       "layout": "grouped", "batch": 2, "seq": 3})";
constexpr const char* kAllEnabled =
    R"("lora": {"heads": 4, "groups": 2, "head_dim": 2, "embedding": 12, "r": 4, "alpha": 16, "enable": [true, true, true],
       "layout": ["contiguous", "grouped"], "batch": 2, "seq": 3})";
constexpr const char* kRotation =
    R"("rope": {"head_dim": 16, "positions": [[0, 1, 2, 77, 4095]]}, "attention": {"heads": 4, "kv_heads": 2, "pairing": "interleaved"})";
constexpr const char* kEveryDtype = R"(["float64", "float32", "bfloat16", "float16"])";

TEST(LoraCase, EveryStageOfACorrectRecipePassesInEveryDtype) {
  const auto results =
      results_of(kGrouped, kEveryDtype, on_cpu("lora-always-padded", "a"), R"({"relation": "accuracy"})");
  ASSERT_EQ(results.size(), 4U * 8);
  for (const Result& result : results) EXPECT_EQ(result.verdict, Verdict::pass) << result.id << " " << result.reason;
}

TEST(LoraCase, TheShortCutIsRightOnlyWhereThePartsLieOneAfterTheOther) {
  const auto results = results_of(kAllEnabled, R"("float32")", on_cpu("litgpt-0.3.1-lora", "a"),
                                  R"({"relation": "accuracy", "stages": ["lora_padded"]})");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].verdict, Verdict::pass);
  EXPECT_EQ(results[1].verdict, Verdict::fail);
  EXPECT_EQ(results[1].first_stage, "lora_padded");
  // Rows 0-3 are q of the first group in both orders; 4-7 are its k and v, and get q of the second group.
  EXPECT_THAT(results[1].reason,
              HasSubstr("10 of 16 columns in another order: 4 has what belongs to 8, 5 has what belongs to 9"));
}

TEST(LoraCase, WrongRowsAreNamedByNumber) {
  const auto results = results_of(kGrouped, R"("float32")", on_cpu("lora-index-contiguous", "a"),
                                  R"({"relation": "accuracy", "stages": ["lora_index", "output"]})");
  EXPECT_EQ(results[0].verdict, Verdict::fail);
  EXPECT_EQ(results[0].reason, "missing {8, 9, 10, 11}, extra {4, 5, 12, 13}");  // as litgpt 891 has it
  EXPECT_EQ(results[1].verdict, Verdict::fail);
  EXPECT_EQ(results[1].first_stage, "lora_index");
}

TEST(LoraCase, AWrongScaleIsNamedByItsFormula) {
  const auto results = results_of(kGrouped, R"("bfloat16")",
                                  on_cpu("lora-scale-alpha", "a") + "," + on_cpu("lora-scale-over-sqrt-r", "b"),
                                  R"({"relation": "accuracy", "stages": ["lora_delta"]})");
  EXPECT_EQ(results[0].reason, "scaled by alpha = 16, not by alpha/r = 4");
  EXPECT_EQ(results[1].reason, "scaled by alpha/sqrt(r) = 8, not by alpha/r = 4");
}

TEST(LoraCase, TensorsThatWereNeverMadeRealFail) {
  const auto results = results_of(kGrouped, R"("float32")",
                                  on_cpu("lora-index-on-meta", "meta") + "," + on_cpu("lora-index-to-empty", "empty"),
                                  R"({"relation": "invariants", "stages": ["lora_index", "lora_padded"]})");
  EXPECT_THAT(results[0].reason, HasSubstr("never materialised"));
  EXPECT_EQ(results[1].verdict, Verdict::error);
  EXPECT_THAT(results[2].reason, HasSubstr("12 of 12 rows are outside 0..15"));
}

TEST(LoraCase, InputsAndPaddingAreGuarded) {
  const auto results = results_of(
      kGrouped, R"("float16")", on_cpu("lora-input-overwritten", "a") + "," + on_cpu("lora-padding-uninitialised", "b"),
      R"({"relation": "invariants", "stages": ["lora_padded"]})");
  EXPECT_THAT(results[0].reason, HasSubstr("it wrote into its input x"));
  EXPECT_THAT(results[1].reason, HasSubstr("24 padded elements are not zero"));
}

TEST(LoraCase, TheSignOfPaddedZerosIsThatOfTheScale) {
  for (const char* alpha : {"16", "-16"}) {
    std::string problem = kGrouped;
    problem.replace(problem.find("16"), 2, alpha);
    const auto results = results_of(problem, R"("float32")", on_cpu("litgpt-0.3.1-lora", "a"),
                                    R"({"relation": "invariants", "stages": ["lora_padded"]})");
    EXPECT_EQ(results[0].verdict, Verdict::pass) << results[0].reason;
    EXPECT_EQ(results[0].details["padding"]["zeros"], 24);
    EXPECT_EQ(results[0].details["padding"]["negative_zeros"], alpha[0] == '-' ? 24 : 0);
  }
}

TEST(LoraCase, NothingEnabledIsNoPass) {
  std::string problem = kGrouped;
  problem.replace(problem.find("[true, false, true]"), 19, "[false, false, false]");
  const auto results = results_of(problem, R"("float32")", on_cpu("litgpt-0.3.1-lora", "a"),
                                  R"({"relation": "accuracy", "stages": ["lora_index", "lora_padded", "output"]})");
  EXPECT_EQ(results[0].verdict, Verdict::untrusted);
  EXPECT_EQ(results[1].verdict, Verdict::untrusted);
  EXPECT_EQ(results[2].verdict, Verdict::pass);
}

TEST(LoraCase, CostIsCountedAndMeasured) {
  const auto results = results_of(
      kGrouped, R"("float32")", on_cpu("litgpt-0.3.0-lora", "list") + "," + on_cpu("litgpt-0.3.1-lora", "cached"),
      R"({"relation": "identity", "between": ["list", "cached"], "stages": ["lora_padded"], "cost": true})");
  EXPECT_EQ(results[0].verdict, Verdict::pass);
  const auto& cost = results[0].details["cost"];
  EXPECT_EQ(cost["operations"][0], cost["operations"][1]);
  EXPECT_GT(cost["tensors"][0], cost["tensors"][1]);
  EXPECT_GT(cost["ratio"], 0);
}

TEST(RotationCase, EarlyAndLateAreTheSameBitsForwardAndNotBackward) {
  const auto results = results_of(
      kRotation, kEveryDtype,
      on_cpu("torchtune-0.3.1-rotation", "early") + "," + on_cpu("torchtune-0.3.0-rotation", "late"),
      R"({"relation": "identity", "between": ["early", "late"], "stages": ["rotated_q", "rotated_k"], "cost": true},
                    {"relation": "equivalence", "between": ["early", "late"], "stages": ["grad_k"]},
                    {"relation": "accuracy", "stages": ["rotated_q", "rotated_k", "grad_q", "grad_k"]})");
  for (const Result& result : results) EXPECT_EQ(result.verdict, Verdict::pass) << result.id << " " << result.reason;
  std::int64_t differing = 0;
  for (const Result& result : results) {
    if (result.relation == Relation::equivalence) differing += result.measured.mismatched;
    if (result.relation != Relation::identity || result.stage != "rotated_k") continue;
    const auto& operations = result.details["cost"]["operations"];
    EXPECT_EQ(2 * operations[0].get<int>(), operations[1]);
  }
  EXPECT_GT(differing, 0);
}

TEST(RotationCase, FaultsFailWhereTheyEnter) {
  std::string half = kRotation;
  half.replace(half.find(R"(, "pairing": "interleaved")"), 26, "");
  const auto results = results_of(half, R"("float32")",
                                  on_cpu("rotation-sign-flipped", "sign") + "," + on_cpu("rotation-left-out", "none") +
                                      "," + on_cpu("rotated-by-inv-freq-bfloat16", "table"),
                                  R"({"relation": "accuracy", "stages": ["rotated_q"]})");
  EXPECT_EQ(results[0].first_stage, "rotated_q");
  EXPECT_EQ(results[1].first_stage, "rotated_q");
  // Right for the table that it got, wrong in all: the error is inherited from the first stage that is off.
  EXPECT_EQ(results[2].first_stage, "inv_freq");
  EXPECT_EQ(results[2].verdict, Verdict::fail);
  EXPECT_LT(results[2].error->local.max_abs, 1e-5);
  EXPECT_GT(results[2].error->inherited.max_abs, 0.1);
}

// Limits against the exact value: one element beyond its limit must fail, a correct result must not.
TEST(WholeLimits, OneElementBeyondItsLimitFails) {
  Case problem;
  problem.id = "s/c/float32";
  problem.lora.emplace();
  problem.lora->embedding = 32;
  problem.lora->head_dim = 8;
  problem.lora->seq = 4;
  const Stages inputs = make_inputs(problem);
  const Recipe recipe = find_recipe("litgpt-0.3.1-lora");
  const auto truth = make_lora_truth(problem, inputs);
  LimitsOfRecipe limits(recipe, make_device("cpu")->bounds(), problem, inputs);
  const WholeRun run = run_whole(recipe, make_device("cpu"), problem, inputs, false);
  LookedAt looked{run.values.at("output"), truth->local("output", run.values), &truth->total("output"),
                  limits.of("output", run.values, false)};
  Result result;
  result.stage = "output";
  judge_accuracy(looked, DType::float32, std::nullopt, result);
  EXPECT_EQ(result.verdict, Verdict::pass);
  looked.tensor.as<float>()[5] += static_cast<float>(3 * looked.limits.local[5]);
  judge_accuracy(looked, DType::float32, std::nullopt, result);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.worst->pair, 5);
}

}  // namespace
}  // namespace ropewalk
