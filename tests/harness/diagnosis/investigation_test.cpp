// What is known of the field comes out of the tensors alone.
#include "harness/diagnosis/investigation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/bad_input.hpp"
#include "harness/checks/claims.hpp"
#include "harness/diagnosis/text.hpp"
#include "tests/harness/diagnosis/dumps.hpp"

namespace ropewalk {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kTables{"cos", "sin"};

Investigation look_at(const Tensors& tensors, const Known& known = usual(), const std::string& claims = kPlainClaim) {
  return investigate(DumpFolder().read(tensors, known), claims);
}

std::vector<std::string> recipes_of(const Investigation& found) {
  std::vector<std::string> out;
  for (const Match& match : found.identification.identical) out.push_back(match.recipe);
  return out;
}

TEST(Investigation, ACorrectDumpIsNamedWithItsClass) {
  const Investigation found = look_at(only(made_by("hf-llama-5.24", dumped_problem()), kTables));
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_EQ(found.first_stage, "");
  for (const char* recipe : {"hf-llama-5.24", "hf-llama-4.37", "gpt-neox", "torchtune"})
    EXPECT_THAT(recipes_of(found), Contains(recipe));
  EXPECT_TRUE(found.one_frequency.explained());
  // LibTorch's polar takes sine and cosine from another library on the CPU.
  EXPECT_THAT(recipes_of(found), Not(Contains("meta-llama")));
}

TEST(Investigation, ATableMadeOnAGpuIsToldFromTheCpus) {
  const Investigation found = look_at(only(made_by("hf-llama-5.24", dumped_problem(), "cuda-math"), kTables));
  EXPECT_EQ(found.verdict, Verdict::pass);
  ASSERT_FALSE(found.identification.identical.empty());
  for (const Match& match : found.identification.identical) EXPECT_EQ(match.device, "cuda-math") << match.recipe;
}

// huggingface/transformers 29496: the module is cast, then the cache is built.
TEST(Investigation, AModuleCastNamesInvFreqAndTheRecipe) {
  const Tensors all = made_by("hf-llama-4.37", dumped_problem(DType::bfloat16), "cpu", true);
  for (const auto& stages : {kTables, std::vector<std::string>{"inv_freq", "cos", "sin"}}) {
    const Investigation found = look_at(only(all, stages));
    EXPECT_EQ(found.verdict, Verdict::fail);
    EXPECT_EQ(found.first_stage, "inv_freq");
    const Match& cause = found.identification.identical.at(0);
    EXPECT_TRUE(cause.module_cast);
    EXPECT_EQ(cause.dtype, DType::bfloat16);
    EXPECT_THAT(recipes_of(found), Contains("hf-llama-4.37"));
  }
}

TEST(Investigation, InvFreqStoredAsBfloat16IsNamed) {
  const Investigation found = look_at(only(made_by("inv-freq-bfloat16", dumped_problem()), kTables));
  EXPECT_EQ(found.first_stage, "inv_freq");
  EXPECT_THAT(recipes_of(found), Contains("inv-freq-bfloat16"));
}

TEST(Investigation, PositionsInBfloat16AreNamed) {
  const Investigation found = look_at(only(made_by("positions-bfloat16", dumped_problem()), kTables));
  EXPECT_EQ(found.first_stage, "positions");
  EXPECT_THAT(recipes_of(found), Contains("positions-bfloat16"));
  // With the file's own positions the stage shows by itself.
  Tensors all = made_by("positions-bfloat16", dumped_problem());
  const Investigation whole = look_at(all);
  EXPECT_EQ(whole.judgement.first_stage, "positions");
}

TEST(Investigation, TheFirstOfTheFilesOwnStages) {
  const Investigation found = look_at(made_by("angle-stored-bfloat16", dumped_problem()));
  EXPECT_EQ(found.judgement.first_stage, "angle");
}

TEST(Investigation, NumbersAreRecognisedInAnotherDtype) {
  const Tensors narrow = only(made_by("hf-llama-5.24", dumped_problem(DType::bfloat16)), kTables);
  const Tensors wide{{"cos", cast(narrow.at("cos"), DType::float32)}, {"sin", cast(narrow.at("sin"), DType::float32)}};
  const Investigation strict = look_at(wide);
  EXPECT_EQ(strict.verdict, Verdict::fail) << "a float32 table with 8 bits in use";
  EXPECT_EQ(strict.identification.identical.at(0).dtype, DType::bfloat16);
  EXPECT_THAT(strict.identification.identical.at(0).other_dtype, Contains("cos"));
  Known known = usual();
  known.dtype = DType::bfloat16;
  EXPECT_EQ(look_at(wide, known).verdict, Verdict::pass);
}

TEST(Investigation, TheLimitsAreThoseOfTheClaim) {
  const Tensors tables = only(made_by("everything-bfloat16", dumped_problem()), kTables);
  EXPECT_EQ(look_at(tables).verdict, Verdict::fail);
  EXPECT_EQ(look_at(tables, usual(), "everything-bfloat16").verdict, Verdict::pass);
}

TEST(Investigation, EveryLayoutIsTheSameTable) {
  const Tensors half = only(made_by("hf-llama-5.24", dumped_problem()), kTables);
  for (const bool interleaved : {false, true}) {
    Tensors full;
    for (const auto& [name, tensor] : half)
      full["model." + name + "_cached"] = twice(tensor, interleaved).reshaped({1, kRows, 1, 2 * kPairs});
    for (const Known& known : {usual(), Known{}}) {
      const Investigation found = look_at(full, known);
      EXPECT_EQ(found.verdict, Verdict::pass);
      EXPECT_THAT(found.dump.found.at(0).layout, HasSubstr(interleaved ? "interleaved" : "doubled"));
      EXPECT_THAT(recipes_of(found), Contains("hf-llama-5.24"));
    }
  }
}

TEST(Investigation, RowsInAnyOrder) {
  const Tensors all = made_by("hf-llama-5.24", dumped_problem());
  const std::vector<std::int64_t> rows{40, 3, 599, 3};
  Tensor positions(DType::int64, {4});
  std::copy(rows.begin(), rows.end(), positions.as<std::int64_t>().begin());
  Tensors some{{"position_ids", positions}};
  for (const std::string& stage : kTables) some[stage] = rows_of(all.at(stage), rows);
  const Investigation found = look_at(some);
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_THAT(recipes_of(found), Contains("hf-llama-5.24"));
}

// M-RoPE's time, height and width: a verdict of one axis would be wrong. Text has the same numbers on all.
TEST(Investigation, PositionsOfSeveralAxesAreRefused) {
  Tensors dump = only(made_by("hf-llama-5.24", dumped_problem()), {"cos", "sin"});
  Tensor positions(DType::int64, {3, kRows});
  for (std::int64_t i = 0; i < 3 * kRows; ++i) positions.as<std::int64_t>()[static_cast<std::size_t>(i)] = i % kRows;
  dump["positions"] = positions;
  EXPECT_EQ(look_at(dump).verdict, Verdict::pass);
  positions.as<std::int64_t>()[5] = 0;
  dump["positions"] = positions;
  EXPECT_THROW(look_at(dump), BadInput);
}

TEST(Investigation, OneWrongCopyOrOneNaNFails) {
  const Tensors half = only(made_by("hf-llama-5.24", dumped_problem()), kTables);
  Tensors full{{"cos", twice(half.at("cos"), false)}, {"sin", half.at("sin")}};
  full["cos"].as<float>()[7 * 2 * kPairs + kPairs + 2] = 0.5F;
  const Investigation copy = look_at(full);
  EXPECT_EQ(copy.verdict, Verdict::fail);
  EXPECT_THAT(copy.dump.defects.at(0), HasSubstr("the first at [7, 34]"));
  full["cos"].as<float>()[7 * 2 * kPairs + kPairs + 2] = full["cos"].as<float>()[7 * 2 * kPairs + 2] = NAN;
  const Investigation nan = look_at(full);
  EXPECT_EQ(nan.verdict, Verdict::fail);
  EXPECT_THAT(investigation_text(nan), HasSubstr("1 NaN, 0 infinite"));
  Tensors mixed{{"cos", half.at("cos")}, {"sin", cast(half.at("sin"), DType::float16)}};
  EXPECT_EQ(look_at(mixed).verdict, Verdict::fail) << "two dtypes in one table";
}

TEST(Investigation, OnlyPositionZeroIsUntrusted) {
  Tensors first;
  const Tensors all = made_by("hf-llama-5.24", dumped_problem());
  for (const std::string& stage : kTables) first[stage] = all.at(stage).rows(0, 1);
  EXPECT_EQ(look_at(first).verdict, Verdict::untrusted);
}

TEST(Investigation, WithoutABaseTheOneThatFits) {
  const Case problem = dumped_problem(DType::float32, 500000);
  const Tensors all = made_by("hf-llama-5.24", problem);
  for (const auto& stages : {kTables, std::vector<std::string>{"inv_freq"}}) {
    const Investigation found = look_at(only(all, stages), Known{});
    EXPECT_EQ(found.dump.problem.rope.base, 500000);
    EXPECT_EQ(found.verdict, Verdict::pass);
  }
  EXPECT_THROW(look_at(table_of([](auto r, auto j) { return static_cast<double>(r * r + j); }), Known{}), BadInput);
}

}  // namespace
}  // namespace ropewalk
