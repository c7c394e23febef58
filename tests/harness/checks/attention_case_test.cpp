// Attention from the case file to the verdict: faults fail where they enter and are named, conventions are judged, the
// same problem given in another way stays within what both may be off by.
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
using testing::AllOf;
using testing::HasSubstr;

// `attention`: the fields after heads and kv_heads.
std::string problem(const std::string& rope, const std::string& attention) {
  return R"("rope": {)" + rope + R"(}, "attention": {"heads": 4, "kv_heads": 2, )" + attention + "}";
}
std::string accuracy(const std::string& stages) { return R"({"relation": "accuracy", "stages": [)" + stages + "]}"; }
std::string variant(const std::string& recipe, const std::string& name) {
  return R"({"name": ")" + name + R"(", "recipe": ")" + recipe + R"(", "device": "cpu", "variant": ")" + name + R"("})";
}
void expect_all(Verdict verdict, const std::vector<Result>& results) {
  EXPECT_FALSE(results.empty());
  for (const Result& result : results) EXPECT_EQ(result.verdict, verdict) << result.id << " " << result.reason;
}

constexpr const char* kEight = R"("head_dim": 8, "max_position": 5)";
constexpr const char* kDTypes = R"(["float32", "bfloat16", "float16"])";

// A float32 table promotes: what the claimed recipe's steps do is right, in whatever claims another it is an error.
TEST(AttentionCase, AStageHasTheDtypeThatTheClaimedStepsGiveIt) {
  const auto rotated = [](const std::string& subject) {
    return results_of(problem(kEight, R"("inputs": "normal")"), R"("bfloat16")", subject,
                      accuracy(R"("rotated_q")"))[0];
  };
  const std::string neox = on_cpu("gpt-neox-4.37-rotation", "a");
  const Result own = rotated(neox);
  EXPECT_EQ(own.verdict, Verdict::pass) << own.reason;
  EXPECT_EQ(own.stage_dtype, "float32");
  EXPECT_LT(own.error->total.max_abs, 1e-5) << "a rounding to bfloat16 would show";
  EXPECT_LT(own.measured.mismatched, own.measured.compared / 2) << "most are the nearest of float32";
  const Result other = rotated(std::string(neox).insert(1, R"("claims": "hf-llama-5.24-rotation", )"));
  EXPECT_EQ(other.verdict, Verdict::error);
  EXPECT_THAT(other.reason, HasSubstr("rotated_q is float32; accepted: bfloat16, the dtype of the case"));
  const Result narrow =
      rotated(on_cpu("hf-llama-5.24-rotation", "a").insert(1, R"("claims": "gpt-neox-4.37-rotation", )"));
  EXPECT_EQ(narrow.verdict, Verdict::error);
  EXPECT_THAT(narrow.reason, HasSubstr("accepted: float32, the dtype that the steps of the claimed recipe give it"));
}

// flash-attention 517: 2 queries, 5 keys.
TEST(AttentionCase, AMaskFromTheWrongCornerIsToldByTheKeysThatAreSeen) {
  for (const char* inputs : {"visible", "normal"}) {
    const auto results =
        results_of(problem(kEight, R"("q_len": 2, "causal": "bottom_right", "inputs": ")" + std::string(inputs) + "\""),
                   R"("float32")", on_cpu("mask-top-left", "a"), accuracy(R"("scores", "output")"));
    expect_all(Verdict::fail, results);
    for (const Result& result : results) {
      EXPECT_EQ(result.first_stage, "scores");
      EXPECT_THAT(result.reason, AllOf(HasSubstr("keys seen by each query: 0; 0-1, right are 0-3; 0-4"),
                                       HasSubstr("nearer to scores causal from the top left: at most ")));
    }
    EXPECT_EQ(results[0].details["keys_seen"]["right"][1].size(), 5U);
  }
}

// A kernel gives its output alone: queries of 0 and one-hot values show the keys in it.
TEST(AttentionCase, KeysAreSeenInTheOutputOfAKernel) {
  const std::string text = problem(kEight, R"("q_len": 2, "causal": "bottom_right", "inputs": "visible")");
  const std::string fp32 = R"("claims": "attention-fp32", )";
  const auto results = results_of(
      text, kDTypes,
      on_cpu("sdpa-math", "right").insert(1, fp32) + ", " + on_cpu("sdpa-causal-with-a-cache", "wrong").insert(1, fp32),
      accuracy(R"("output")"));
  ASSERT_EQ(results.size(), 6U);
  for (std::size_t i = 0; i < 6; i += 2) {
    EXPECT_EQ(results[i].verdict, Verdict::pass) << results[i].reason;
    EXPECT_EQ(results[i + 1].verdict, Verdict::fail);
    EXPECT_THAT(results[i + 1].reason, AllOf(HasSubstr("keys seen by each query: 0; 0-1, right are 0-3; 0-4"),
                                             HasSubstr("nearer to an output causal from the top left")));
  }
}

// transformers 29623: visible are 1,2,3,3,3,3 keys, not 1,2,3,4,4,4.
TEST(AttentionCase, AWindowThatIsOneTooWideIsNamed) {
  const auto results =
      results_of(problem(R"("head_dim": 8, "max_position": 6)", R"("causal": "top_left", "window": 3)"), kDTypes,
                 on_cpu("window-one-more", "a"), accuracy(R"("scores", "output")"));
  expect_all(Verdict::fail, results);
  for (const Result& result : results)
    EXPECT_THAT(
        result.reason,
        AllOf(HasSubstr("keys seen by each query: 0; 0-1; 0-2; 0-3; 1-4; 2-5, right are 0; 0-1; 0-2; 1-3; 2-4; 3-5"),
              HasSubstr("with a window of one key more")));
}

TEST(AttentionCase, RowsWithoutKeysFollowTheConventionThatTheCaseNames) {
  const auto run = [](const char* convention, const char* dtype, const std::string& subject, const char* stage) {
    return results_of(
        problem(kEight, R"("causal": "top_left", "padding": 2, "fully_masked": ")" + std::string(convention) + "\""),
        "\"" + std::string(dtype) + "\"", subject, accuracy("\"" + std::string(stage) + "\""))[0];
  };
  const std::string eager = on_cpu("hf-eager-attention", "eager"),
                    math = on_cpu("sdpa-math", "math").insert(1, R"("claims": "attention-fp32", )");
  EXPECT_EQ(run("zero", "float32", math, "output").verdict, Verdict::pass);
  const Result nan = run("zero", "float32", eager, "output");
  EXPECT_EQ(nan.verdict, Verdict::fail);
  EXPECT_EQ(nan.first_stage, "probabilities");
  EXPECT_THAT(nan.reason, HasSubstr("rows that see no key give NaN, where the case says zero"));
  // NaN as the case says is no pass: nothing confirms it.
  const Result named = run("nan", "float32", eager, "output");
  EXPECT_EQ(named.verdict, Verdict::untrusted);
  EXPECT_THAT(run("nan", "float32", math, "output").reason, HasSubstr("give zero, where the case says nan"));
  EXPECT_EQ(run("mean", "bfloat16", eager, "output").verdict, Verdict::pass);
  EXPECT_EQ(run("mean", "float32", eager, "probabilities").verdict, Verdict::pass);
}

TEST(AttentionCase, WhatWasLeftOutIsNamed) {
  const auto results =
      results_of(problem(R"("head_dim": 16, "max_position": 12)", R"("softcap": 2, "inputs": "peaked")"),
                 R"("float32")", on_cpu("softcap-dropped", "a"), accuracy(R"("scores")"));
  EXPECT_THAT(results[0].reason, HasSubstr("nearer to scores without the softcap"));
  const auto unscaled = results_of(problem(kEight, R"("causal": "top_left")"), R"("float32")",
                                   on_cpu("scores-unscaled", "a"), accuracy(R"("scores")"));
  EXPECT_THAT(unscaled[0].reason, HasSubstr("nearer to scores without the scale: at most "));
  // TensorRT-LLM 18044: 128 channels of 64 give 524288 before the scale, which float16 does not hold.
  const auto large = results_of(problem(R"("head_dim": 128, "positions": [[1, 2]])", R"("inputs": "all_64")"),
                                R"("float16")", on_cpu("hf-eager-attention", "a"), accuracy(R"("scores")"));
  EXPECT_THAT(large[0].reason, HasSubstr("16 of 16 overflowed float16"));
  const auto still = results_of(problem(kEight, R"("batch": 1)"), R"("float32")", on_cpu("rotation-left-out", "a"),
                                accuracy(R"("rotated_q")"));
  EXPECT_THAT(still[0].reason, HasSubstr("it is its input q, bit for bit"));
}

TEST(AttentionCase, GradientsArePlacedAndLimited) {
  const std::string text =
      problem(R"("head_dim": 16, "max_position": 9)", R"("causal": "top_left", "backward": "attention", "batch": 2)");
  const auto results = results_of(text, kDTypes, on_cpu("hf-eager-attention-training", "a"),
                                  accuracy(R"("output", "grad_q", "grad_k", "grad_v")"));
  ASSERT_EQ(results.size(), 12U);
  expect_all(Verdict::pass, results);
  for (const Result& result : results) {
    EXPECT_GT(*result.margin, 1e-3) << result.id;  // a thousand times narrower limits would not hold
    EXPECT_GT(result.error->total.max_abs, 0) << result.id;
  }
}

TEST(AttentionCase, TheSameProblemGivenInAnotherWayStaysWithinWhatBothMayBeOffBy) {
  const std::string text = problem(R"("head_dim": 16, "max_position": 9)", R"("causal": "top_left", "batch": 2)");
  std::string subjects = on_cpu("hf-eager-attention", "eager"), checks;
  for (const char* name : {"single", "decode", "padded", "packed", "shifted"}) {
    subjects += ", " + variant("hf-eager-attention", name);
    checks += std::string(checks.empty() ? "" : ", ") + R"({"relation": "equivalence", "between": ["eager", ")" + name +
              R"("], "stages": ["output"]})";
  }
  const auto results = results_of(text, kDTypes, subjects, checks);
  ASSERT_EQ(results.size(), 15U);
  expect_all(Verdict::pass, results);
  for (const Result& result : results)
    EXPECT_EQ(result.measured.mismatched > 0, result.closer.has_value()) << result.id;
  EXPECT_GT(results[4].measured.mismatched, 0);  // shifted: other angles, other roundings
}

// mlx 3494: alone each entry of the batch is right, together they are not.
TEST(AttentionCase, AFaultOfTheBatchShowsBesideItsEntriesAlone) {
  const std::string text = problem(R"("head_dim": 8, "positions": [[3, 4]])",
                                   R"("batch": 2, "q_len": 1, "offset": 0, "inputs": "same_rows")");
  const auto results =
      results_of(text, R"("float32")",
                 on_cpu("positions-over-the-batch", "a") + ", " + variant("hf-llama-5.24-rotation", "single"),
                 R"({"relation": "equivalence", "between": ["a", "single"], "stages": ["rotated_q"]})");
  EXPECT_EQ(results[0].verdict, Verdict::fail);
  EXPECT_EQ(results[0].closer->subject, "single");
}

// transformers 25199: half-split and interleaved pairs are the same but for the order of the channels of q and k.
TEST(AttentionCase, ChannelsInTheOtherOrderGiveTheSameScores) {
  const std::string rope = R"("head_dim": 8, "partial_rotary_factor": [1, 0.5], "positions": [[1, 2, 3]])";
  const std::string subject = variant("hf-eager-attention", "permuted");  // of half-split pairs
  expect_all(Verdict::pass, results_of(problem(rope, R"("pairing": "interleaved")"), kDTypes, subject,
                                       accuracy(R"("scores", "output")")));
  expect_all(Verdict::fail,
             results_of(problem(rope, R"("pairing": "half_split")"), R"("float32")", subject, accuracy(R"("scores")")));
}

// Between the probabilistic bound and the worst case: a warning, no failure.
TEST(AttentionCase, BeyondTheProbabilisticBoundIsAWarning) {
  Case one;
  one.id = "s/c/float32";
  one.rope.head_dim = 1024;
  one.positions.limit = 4;
  one.attention.emplace();
  const Stages inputs = make_inputs(one);
  const Recipe recipe = find_recipe("hf-eager-attention");
  const auto truth = make_attention_truth(one, inputs);
  LimitsOfRecipe limits(recipe, make_device("cpu")->bounds(), one, inputs);
  const WholeRun run = run_whole(recipe, make_device("cpu"), one, inputs, false);
  LookedAt looked{copy_of(run.values.at("scores")), truth->local("scores", run.values), &truth->total("scores"),
                  limits.of("scores", run.values, false)};
  Result result;
  result.stage = "scores";
  judge_accuracy(looked, DType::float32, std::nullopt, result);
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_LT(result.details["probabilistic"]["ratio"], 1);
  EXPECT_FALSE(result.details["probabilistic"].contains("warning"));
  // 1024 products: 256 roundings instead of 1024.
  EXPECT_LT(looked.limits.probable[3], 0.3 * looked.limits.local[3]);
  looked.tensor.as<float>()[3] += static_cast<float>(0.5 * looked.limits.local[3]);
  judge_accuracy(looked, DType::float32, std::nullopt, result);
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_THAT(result.details["probabilistic"]["warning"], HasSubstr("1 of 16 elements"));
}

TEST(AttentionCase, SinksAlibiMasksAndComplexNumbersHaveTheirReference) {
  const std::string rope = R"("head_dim": 16, "max_position": 9)";
  const auto check = [&](const std::string& attention, const std::string& recipe,
                         const std::string& stages = R"("scores", "probabilities", "output")") {
    expect_all(Verdict::pass, results_of(problem(rope, attention), kDTypes, on_cpu(recipe, "a"), accuracy(stages)));
  };
  check(R"("causal": "top_left", "sinks": true)", "gpt-oss-attention");
  check(R"("causal": "bottom_right", "q_len": 4, "alibi": true)", "attention-alibi", R"("probabilities", "output")");
  check(R"("causal": "top_left", "mask": "additive", "padding": 1, "fully_masked": "mean")", "hf-eager-attention");
  check(R"("causal": "top_left", "pairing": "interleaved")", "meta-llama-attention");
  check(R"("causal": "top_left", "softcap": 2, "scale": 0.0625)", "litgpt-attention-softcap");
  // The same recipe without its sink, or without its slopes, is caught.
  const auto no_sink = results_of(problem(rope, R"("sinks": true)"), R"("float32")", on_cpu("hf-eager-attention", "a"),
                                  accuracy(R"("scores", "probabilities")"));
  EXPECT_EQ(no_sink[0].verdict, Verdict::pass);
  EXPECT_EQ(no_sink[1].verdict, Verdict::fail);
  EXPECT_EQ(no_sink[1].first_stage, "probabilities");
  const auto no_slope = results_of(problem(rope, R"("alibi": true)"), R"("float32")", on_cpu("hf-eager-attention", "a"),
                                   accuracy(R"("scores")"));
  EXPECT_EQ(no_slope[0].verdict, Verdict::fail);
}

}  // namespace
}  // namespace ropewalk
