// Calls one after another from the case file to the verdict: what a cache serves, what one call of the last length
// would, and where a result stands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/checks/one_case.hpp"

namespace ropewalk {
namespace {

using test::on_cpu;
using test::results_of;
using testing::HasSubstr;

constexpr const char* kDynamic =
    R"("rope": {"head_dim": 8, "scaling": "dynamic", "factor": 2, "max_position_embeddings": 4}, "state": {"lengths": )";
constexpr const char* kStages = R"(, "stages": ["inv_freq", "cos"]})";
constexpr const char* kAccuracy = R"({"relation": "accuracy", "stages": ["inv_freq", "cos"]})";

std::string dynamic(const std::string& lengths) { return kDynamic + lengths + "}"; }
std::string recomputed(const std::string& recipe) {
  return R"({"name": "b", "recipe": ")" + recipe + R"(", "device": "cpu", "variant": "recomputed"})";
}
std::vector<Result> cached_and_recomputed(const std::string& problem) {
  return results_of(problem, R"("float32")", on_cpu("hf-llama-5.24", "a") + ", " + recomputed("hf-llama-5.24"),
                    std::string(R"({"relation": "identity", "between": ["a", "b"])") + kStages);
}

// transformers 25104: the keys of earlier calls have other bases than the last call's.
TEST(StateCase, DynamicScalingServesFromACacheWhatNoCallComputes) {
  const auto results = cached_and_recomputed(dynamic("[3, 4, 5, 6, 7, 8]"));
  ASSERT_EQ(results.size(), 2U);
  for (const Result& result : results) {
    EXPECT_EQ(result.verdict, Verdict::fail) << result.id;
    EXPECT_EQ(result.first_stage, "inv_freq");
  }
  EXPECT_EQ(results[0].measured.compared, 6 * 4);
  EXPECT_EQ(results[1].measured.compared, 8 * 4);
  // pair 0 turns by one whatever the base: of 5 calls (the sixth is the last length) three pairs differ
  EXPECT_EQ(results[0].measured.mismatched, 5 * 3);
  EXPECT_EQ(results[1].worst->length, results[1].worst->position + 1) << "one row a call after the third";
  EXPECT_EQ(results[1].worst->call, results[1].worst->position - 2);
}

TEST(StateCase, WithoutACacheNothingDiffersInOneCall) {
  for (const Result& result : cached_and_recomputed(dynamic("[8, 8, 5]")))
    EXPECT_EQ(result.verdict, Verdict::pass) << result.id << result.reason;
}

// The first call, of length 8, is right; the table that it leaves is not, for the next.
TEST(StateCase, AStickyCacheFailsInTheCallThatItSpoils) {
  for (const Result& result : results_of(dynamic("[8, 6]"), R"("float32")", on_cpu("hf-llama-5.24", "a"), kAccuracy)) {
    EXPECT_EQ(result.verdict, Verdict::fail) << result.id;
    EXPECT_EQ(result.first_stage, "inv_freq");
    ASSERT_TRUE(result.worst);
    EXPECT_EQ(result.worst->call, 1);
    EXPECT_EQ(result.worst->length, 6);
    EXPECT_GE(result.worst->row, 8);
    EXPECT_EQ(result.worst->row, 8 + result.worst->position);
  }
}

TEST(StateCase, LimitsAreThoseOfEachCall) {
  const std::string accuracy = R"({"relation": "accuracy", "stages": ["inv_freq"]})";
  const auto formula = [&](const char* lengths) {
    return results_of(dynamic(lengths), R"("float32")", on_cpu("hf-llama-5.24", "a"), accuracy)
        .at(0)
        .local_limit->formula;
  };
  // The base of a call beyond the maximum is rounded more often. In the last of three calls a base is kept: it decides.
  EXPECT_EQ(formula("[3, 8, 6]"), formula("[6]"));
  EXPECT_NE(formula("[6]"), formula("[3]"));
}

TEST(StateCase, InvariantsAreHeldInEveryCall) {
  for (const Result& result :
       results_of(dynamic("[3, 5, 2]"), R"("bfloat16")", on_cpu("hf-llama-5.24", "a"), R"({"relation": "invariants"})"))
    EXPECT_EQ(result.verdict, Verdict::pass) << result.id << " " << result.reason;
}

// gpt-neox is served uncast: a cast after the build rounds its first table, a buffer, and not the frequencies behind
// it.
TEST(StateCase, ACastRoundsATableThatWasMadeBefore) {
  const std::string problem = R"("rope": {"head_dim": 128}, "state": {"built_for": 32, "lengths": [[32], [33]]})";
  const auto results = results_of(
      problem, R"("bfloat16")",
      R"({"recipe": "gpt-neox", "device": "cpu", "module_cast": "after_build"}, {"recipe": "hf-llama-4.37", "device": "cpu"})",
      R"({"relation": "identity", "between": ["gpt-neox@cpu+cast_after_build", "hf-llama-4.37@cpu"], "stages": ["cos"]})");
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].verdict, Verdict::pass) << results[0].reason;
  EXPECT_EQ(results[1].verdict, Verdict::fail);
  EXPECT_EQ(results[0].subjects[0].module_cast, ModuleCast::after_build);
}

TEST(StateCase, AProgramWithoutCallsIsSkipped) {
  const std::string program =
      R"({"name": "a", "program": ["python3", ")" ROPEWALK_SOURCE_DIR R"(/harness/adapters/plain_python.py"]})";
  for (const Result& result : results_of(dynamic("[3, 4]"), R"("float32")", program, kAccuracy)) {
    EXPECT_EQ(result.verdict, Verdict::skipped);
    EXPECT_THAT(result.reason, HasSubstr("the program does not offer rope_call"));
  }
}

// The program answers how many calls it has seen, and the lengths that it was told.
TEST(StateCase, AProgramIsAskedCallByCallInOneProcess) {
  SubjectSpec spec;
  spec.program = {"python3", "calls.py"};
  const auto subject = make_program_subject(spec, ROPEWALK_TEST_DIR "/data/programs");
  Case problem;
  problem.rope.head_dim = 8;
  problem.rope.scaling.type = reference::Scaling::Type::dynamic;
  problem.rope.scaling.max_position_embeddings = 4;
  problem.state = State{{3, 5, 2}, 0};
  for (int again = 0; again < 2; ++again) {
    subject->prepare(problem);
    for (const auto& [first, count, seen, length] :
         {std::array{0, 3, 1, 3}, {3, 1, 2, 5}, {4, 1, 2, 5}, {5, 2, 3, 2}}) {
      const Stages rows = subject->rows(first, count);
      EXPECT_THAT(to_doubles(rows.at("cos")), testing::SizeIs(4 * count));
      EXPECT_THAT(to_doubles(rows.at("cos")), testing::Each(seen));
      EXPECT_THAT(to_doubles(rows.at("sin")), testing::Each(length));
      EXPECT_THAT(to_doubles(rows.at("inv_freq")), testing::Each(length));
    }
  }
}

}  // namespace
}  // namespace ropewalk
