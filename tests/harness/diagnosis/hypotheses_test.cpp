// Each simple change of a correct table is found, alone and to its limit; what no such change explains is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/checks/claims.hpp"
#include "harness/diagnosis/explain_table.hpp"
#include "harness/diagnosis/judge.hpp"
#include "harness/diagnosis/one_frequency.hpp"
#include "tests/harness/diagnosis/dumps.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

std::vector<Explained> fits(const Tensors& table) {
  return fitting_hypotheses(dumped_problem(table.at("cos").dtype()), table, kPlainClaim, true);
}

// The only explanation, which must hold.
Hypothesis the_one(const Tensors& table) {
  const auto found = fits(table);
  EXPECT_EQ(found.size(), 1U);
  if (found.empty()) return {};
  EXPECT_TRUE(found.front().holds());
  EXPECT_GT(found.front().error, 0) << "compared with itself?";
  return found.front().hypothesis;
}

TEST(Hypotheses, AnotherBase) {
  const Hypothesis found = the_one(made_by("hf-llama-5.24", dumped_problem(DType::float32, 500000)));
  EXPECT_EQ(found.kind, "base");
  EXPECT_EQ(found.base, 500000);
  EXPECT_EQ(found.stage, "inv_freq");
}

TEST(Hypotheses, AnotherBaseInSixteenBits) {
  const Hypothesis found = the_one(made_by("hf-llama-5.24", dumped_problem(DType::bfloat16, 1000000)));
  EXPECT_EQ(found.base, 1000000);
}

TEST(Hypotheses, LinearScaling) {
  const Hypothesis found =
      the_one(table_of([](auto r, auto j) { return static_cast<double>((static_cast<float>(r) / 4) * frequency(j)); }));
  EXPECT_EQ(found.kind, "scale");
  EXPECT_EQ(found.scale, 0.25);
}

TEST(Hypotheses, PositionsAheadAndBehind) {
  const Hypothesis ahead = the_one(table_of([](auto r, auto j) { return product(r + 3, frequency(j)); }));
  EXPECT_EQ(ahead.text, "positions ahead by 3");
  EXPECT_EQ(ahead.stage, "positions");
}

TEST(Hypotheses, PositionsRoundedToSixteenBits) {
  // bfloat16 holds every second position above 256 and every fourth above 512; ties go to the even one.
  const auto rounded = [](std::int64_t p) {
    const std::int64_t step = p < 256 ? 1 : p < 512 ? 2 : 4;
    return step * std::llrint(static_cast<double>(p) / static_cast<double>(step));
  };
  const Hypothesis found = the_one(table_of([&](auto r, auto j) { return product(rounded(r), frequency(j)); }));
  EXPECT_EQ(found.text, "positions rounded to bfloat16");
}

TEST(Hypotheses, OtherPositions) {
  const Hypothesis found =
      the_one(table_of([](auto r, auto j) { return product(r < 100 ? r : r - 100, frequency(j)); }));
  EXPECT_EQ(found.text, "500 of 600 rows hold another position; the first is that of 100, which holds 0");
}

TEST(Hypotheses, AnAmplitude) {
  const double yarn = 0.1 * std::log(32.0) + 1;
  const Hypothesis found = the_one(table_of([](auto r, auto j) { return product(r, frequency(j)); }, yarn));
  EXPECT_EQ(found.kind, "amplitude");
  EXPECT_THAT(found.text, HasSubstr("YaRN's 0.1 ln s + 1 for s = 32"));
}

TEST(Hypotheses, ExchangedAndNegated) {
  Tensors table = table_of([](auto r, auto j) { return product(r, frequency(j)); });
  std::swap(table["cos"], table["sin"]);
  EXPECT_EQ(the_one(table).kind, "exchanged");
  EXPECT_EQ(the_one(table_of([](auto r, auto j) { return -product(r, frequency(j)); })).kind, "sign");
}

TEST(Hypotheses, TheOrderOfPairs) {
  const auto ordered = [](auto order) {
    return the_one(table_of([=](auto r, auto j) { return product(r, frequency(order(j))); }));
  };
  EXPECT_EQ(ordered([](std::int64_t j) { return kPairs - 1 - j; }).text, "pairs in the opposite order");
  EXPECT_EQ(ordered([](std::int64_t j) { return j ^ 1; }).text, "neighbouring pairs exchanged");
  EXPECT_THAT(ordered([](std::int64_t j) { return j < kPairs / 2 ? 2 * j : 2 * j - kPairs + 1; }).text,
              HasSubstr("even pairs first"));
  EXPECT_THAT(ordered([](std::int64_t j) { return j % 2 == 0 ? j / 2 : (kPairs + j) / 2; }).text,
              HasSubstr("halves interleaved"));
  EXPECT_THAT(ordered([](std::int64_t j) { return (j + 5) % kPairs; }).text, HasSubstr("another order: 5, 6, 7"));
}

TEST(Hypotheses, WhatNoneExplains) {
  EXPECT_TRUE(fits(table_of([](auto r, auto j) { return product(r, frequency(j)) + (j == 3 ? 1e-5 : 0); })).empty());
  EXPECT_TRUE(fits(made_by("angle-stored-bfloat16", dumped_problem())).empty());
  EXPECT_TRUE(fits(made_by("inv-freq-bfloat16", dumped_problem())).empty());
  EXPECT_TRUE(fits({{"cos", Tensor(DType::float32, {kRows, kPairs})}, {"sin", Tensor(DType::float32, {kRows, kPairs})}})
                  .empty());
}

OneFrequency alone(const Tensors& table, const Case& problem = dumped_problem()) {
  return one_frequency(problem, only(table, {"cos", "sin"}), budget_for(kPlainClaim, problem));
}

TEST(OneFrequency, CorrectTablesHaveOne) {
  for (const char* device : {"cpu", "cuda-math"})
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16})
      for (const double base : {10000.0, 500000.0, 1000042.0}) {
        Case problem = dumped_problem(dtype, base);
        problem.positions = {0, {0, 1, 17, 511, 4095, 32767, 131071}};
        const OneFrequency found = alone(made_by("hf-llama-5.24", problem, device), problem);
        EXPECT_TRUE(found.explained()) << device << name_of(dtype) << base;
        EXPECT_LT(found.largest_ulp, 40);
      }
  // Without a rounding of the product, as with one fused operation or in float64.
  EXPECT_TRUE(alone(table_of([](auto r, auto j) { return static_cast<double>(r) * frequency(j); })).explained());
  EXPECT_TRUE(alone(table_of([](auto r, auto j) {
                return static_cast<double>(r) * std::pow(10000.0, -static_cast<double>(j) / kPairs);
              })).explained());
}

// Tables of yarn and longrope are multiplied by an amplitude.
TEST(OneFrequency, TablesWithAnAmplitudeHaveOneToo) {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    Case problem = dumped_problem(dtype);
    problem.rope.scaling.type = reference::Scaling::Type::yarn;
    problem.rope.scaling.factor = 4;
    problem.rope.scaling.original_max_position_embeddings = 1024;
    EXPECT_TRUE(alone(made_by("hf-llama-5.24", problem), problem).explained()) << name_of(dtype);
    EXPECT_FALSE(alone(made_by("amplitude-dropped", problem), problem).explained()) << name_of(dtype);
  }
}

// Hidden from the total limit behind what the frequency may be off by.
TEST(OneFrequency, ATrigonometryFaultWithinTheTotalLimitIsSeen) {
  Case problem = dumped_problem();
  problem.positions = {0, {100000, 100001, 100002, 100003}};
  Tensors table = only(made_by("hf-llama-5.24", problem), {"cos", "sin"});
  table["sin"].as<float>()[kPairs + 1] += 2e-4F;
  const Judgement judged = judge(problem, table, budget_for(kPlainClaim, problem), true);
  EXPECT_EQ(judged.results.at(1).stage, "sin");
  EXPECT_EQ(judged.results.at(1).verdict, Verdict::pass) << "the total limit is too wide to see it";
  EXPECT_THAT(alone(table, problem).unexplained, testing::ElementsAre(1));
}

TEST(OneFrequency, FaultsHaveNone) {
  for (const char* fault : {"angle-stored-bfloat16", "positions-bfloat16", "inv-freq-bfloat16", "trig-short-reduction"})
    EXPECT_FALSE(alone(made_by(fault, dumped_problem())).unexplained.empty()) << fault;
}

}  // namespace
}  // namespace ropewalk
