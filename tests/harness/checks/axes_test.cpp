// Tables of positions on several axes, from the case's text to the verdict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/cases/inputs.hpp"
#include "harness/checks/truth.hpp"
#include "harness/checks/whole_truth.hpp"
#include "harness/recipes/axis_lists.hpp"
#include "harness/recipes/run.hpp"
#include "harness/tensors/safetensors.hpp"
#include "tests/harness/checks/one_case.hpp"

namespace ropewalk::test {
namespace {

const std::string kQwen2 = R"("rope": {"head_dim": 128, "base": 1000000, "mrope_section": [16, 24, 24],
    "positions": {"tokens": [3, [1, 4, 6], 2]}})";
const std::string kQwen3 = R"("rope": {"head_dim": 128, "base": 5000000, "mrope_section": [24, 20, 20],
    "mrope_interleaved": true, "positions": {"tokens": [3, [1, 4, 6], 2]}})";
const std::string kVision = R"("rope": {"head_dim": 80, "axial": true, "positions": {"tokens": [[4, 6]]}})";
const std::string kAll = R"({"relation": "accuracy"}, {"relation": "invariants"})";

TEST(Axes, RightRecipesPassAtEveryStage) {
  for (const auto& [problem, recipe] : {std::pair{kQwen2, "hf-qwen2-vl-4.57.6"}, std::pair{kQwen2, "hf-qwen2-vl-5.24"},
                                        std::pair{kQwen3, "hf-qwen3-vl-4.57.6"}, std::pair{kQwen3, "hf-qwen3-vl-5.24"},
                                        std::pair{kVision, "hf-vision-4.57.6"}, std::pair{kVision, "hf-vision-5.24"}}) {
    const auto results = results_of(problem, R"("float32")", on_cpu(recipe, "a"), kAll);
    EXPECT_EQ(results.size(), 10U);
    for (const Result& result : results) {
      EXPECT_EQ(result.verdict, Verdict::pass) << recipe << ' ' << result.id << ' ' << result.reason;
      EXPECT_GT(result.measured.compared, 0) << result.id;
    }
  }
}

// Pairs 0 to 15 of Qwen2-VL turn by the first axis, 16 to 39 by the second, 40 to 63 by the third.
TEST(Axes, ARecipeTurnsEachPairByItsAxis) {
  Case c;
  c.rope.head_dim = 128;
  c.rope.mrope_section = {16, 24, 24};
  c.positions.axes = {{3}, {400}, {50000}};
  const std::vector<std::int64_t> row{3, 400, 50000};
  const auto stages = RecipeRun(find_recipe("hf-qwen2-vl-5.24"), make_device("cpu"), c, false).rows(row);
  EXPECT_EQ(stages.at("positions").shape(), (Shape{1, 3}));
  const auto frequency = stages.at("inv_freq").as<float>(), angle = stages.at("angle").as<float>();
  ASSERT_EQ(stages.at("angle").shape(), (Shape{1, 64}));
  EXPECT_EQ(angle[15], 3 * frequency[15]);
  EXPECT_EQ(angle[16], 400 * frequency[16]);
  EXPECT_EQ(angle[39], 400 * frequency[39]);
  EXPECT_EQ(angle[40], 50000 * frequency[40]);
}

// YaRN beside the sections: frequencies and amplitude of every axis are scaled.
TEST(Axes, RightRecipesPassWithAScaling) {
  const std::string yarn = R"("scaling": "yarn", "factor": 4, "original_max_position_embeddings": 32768, )";
  for (const auto& [problem, recipe] :
       {std::pair{kQwen2, "hf-qwen2-vl-4.57.6"}, std::pair{kQwen2, "hf-qwen2-vl-5.24"},
        std::pair{kQwen3, "hf-qwen3-vl-4.57.6"}, std::pair{kQwen3, "hf-qwen3-vl-5.24"}}) {
    const std::string scaled = std::string(problem).insert(problem.find("\"base\""), yarn);
    for (const Result& result : results_of(scaled, R"(["float32", "bfloat16"])", on_cpu(recipe, "a"), kAll))
      EXPECT_EQ(result.verdict, Verdict::pass) << recipe << ' ' << result.id << ' ' << result.reason;
  }
}

// The worst element's position is that of its pair's own axis.
TEST(Axes, FaultsFailAtTheirStage) {
  struct Known {
    std::string problem;
    const char *fault, *stage;
  };
  for (const Known& known :
       {Known{kQwen2, "mrope-axes-exchanged", "angle"}, Known{kQwen2, "mrope-blocked-as-interleaved", "angle"},
        Known{kQwen2, "mrope-first-axis-only", "angle"}, Known{kQwen2, "mrope-exponent-restarts", "inv_freq"},
        Known{kQwen3, "mrope-interleaved-as-blocked", "angle"},
        Known{kVision, "axial-rows-and-columns-exchanged", "angle"}, Known{kVision, "axial-whole-width", "inv_freq"}}) {
    const auto results =
        results_of(known.problem, R"("float32")", on_cpu(known.fault, "a"),
                   R"({"relation": "accuracy", "stages": [")" + std::string(known.stage) + R"(", "cos", "sin"]})");
    for (const Result& result : results) {
      EXPECT_EQ(result.verdict, Verdict::fail) << known.fault << ' ' << result.id << ' ' << result.reason;
      EXPECT_EQ(result.first_stage, known.stage) << known.fault;
    }
  }
}

TEST(Axes, OfTextAreOneAxisBitForBit) {
  const std::string text = R"("rope": {"head_dim": 128, "base": 1000000, "mrope_section": [16, 24, 24],
      "positions": [0, 1, 77, 4095, 131071]})";
  const auto results = results_of(
      text, R"(["float32", "bfloat16"])", on_cpu("hf-qwen2-vl-5.24", "a") + "," + on_cpu("hf-llama-5.24", "b"),
      R"({"relation": "identity", "between": ["a", "b"], "stages": ["positions", "angle", "cos", "sin"]},
                    {"relation": "accuracy", "subjects": ["b"]})");
  EXPECT_EQ(results.size(), 18U);
  for (const Result& result : results) EXPECT_EQ(result.verdict, Verdict::pass) << result.id << ' ' << result.reason;
}

TEST(Axes, ARecipeOfOtherAxesIsRefused) {
  for (const auto& [problem, recipe, reason] :
       {std::tuple{kQwen2, "hf-llama-5.24", "takes positions of one axis, the case has sections one after the other"},
        std::tuple{kQwen2, "hf-qwen3-vl-5.24", "takes interleaved sections, the case has sections one after the other"},
        std::tuple{kQwen3, "hf-qwen2-vl-5.24", "takes sections one after the other, the case has interleaved sections"},
        std::tuple{kVision, "hf-qwen2-vl-5.24", "takes sections one after the other, the case has axial positions"}}) {
    const auto results = results_of(problem, R"("float32")", on_cpu(recipe, "a"), R"({"relation": "accuracy"})");
    for (const Result& result : results) {
      EXPECT_EQ(result.verdict, Verdict::skipped) << result.id;
      EXPECT_THAT(result.reason, testing::HasSubstr(reason));
    }
  }
}

// A file is judged like the recipe that it comes from, in whatever order its rows are.
TEST(Axes, AFileOfTensorsIsJudgedByItsPositions) {
  const Folder folder;
  const std::string image = R"("rope": {"head_dim": 128, "base": 1000000, "mrope_section": [16, 24, 24],
      "positions": {"axes": [[2, 2, 9], [7, 3, 9], [4, 5, 9]]}})";
  const auto file = folder.path() / "t.safetensors";
  const auto written = [&](const char* recipe, std::vector<std::int64_t> rows) {
    Case c;
    c.rope.head_dim = 128;
    c.rope.base = 1000000;
    c.rope.mrope_section = {16, 24, 24};
    auto stages = RecipeRun(find_recipe(recipe), make_device("cpu"), c, false).rows(rows);
    Tensor positions(DType::int64, {std::ssize(rows) / 3, 3});
    std::copy(rows.begin(), rows.end(), positions.as<std::int64_t>().begin());
    stages["positions"] = positions;
    write_safetensors(file, stages);
    return results_of(image, R"("float32")", R"({"name": "f", "tensors": ")" + file.string() + R"("})",
                      R"({"relation": "accuracy", "stages": ["inv_freq", "angle", "cos", "sin"]})");
  };
  const auto right = written("hf-qwen2-vl-5.24", {9, 9, 9, 2, 3, 5, 2, 7, 4});
  EXPECT_EQ(right.size(), 4U);
  for (const Result& result : right) EXPECT_EQ(result.verdict, Verdict::pass) << result.id << ' ' << result.reason;
  for (const Result& result : written("mrope-axes-exchanged", {9, 9, 9, 2, 3, 5, 2, 7, 4})) {
    if (result.stage == "inv_freq") continue;
    EXPECT_EQ(result.verdict, Verdict::fail) << result.id;
    EXPECT_EQ(result.first_stage, "angle");
  }
  for (const Result& result : written("hf-qwen2-vl-5.24", {9, 9, 9, 2, 5, 3, 2, 4, 7})) {
    EXPECT_EQ(result.verdict, Verdict::error) << result.id;
    EXPECT_THAT(result.reason, testing::HasSubstr("positions of the file lacks position (2, 7, 4) of the case"));
  }
}

// Against the formula in long double: channel j turns with channel j + 8 by its own axis' position.
TEST(Axes, TheExactRotationTurnsEachPairByItsAxis) {
  Case c;
  c.rope.head_dim = 16;
  c.rope.mrope_section = {2, 3, 3};
  c.positions.axes = {{0, 2, 40}, {7, 0, 100}, {5, 9, 3000}};
  c.attention = Attention{};
  c.attention->heads = 2;
  const Stages inputs = make_inputs(c);
  const auto truth = make_attention_truth(c, inputs);
  const int axis_of[] = {0, 0, 1, 1, 1, 2, 2, 2};
  const auto q = to_doubles(inputs.at("q")), back = to_doubles(inputs.at("grad_rotated_q"));
  const auto &turned = truth->total("rotated_q").values, &gradient = truth->total("grad_q").values;
  ASSERT_EQ(turned.size(), q.size());
  ASSERT_EQ(gradient.size(), q.size());
  for (std::size_t vector = 0; vector < q.size() / 16; ++vector)
    for (std::size_t j = 0; j < 8; ++j) {
      const auto position = c.positions.at(static_cast<std::int64_t>(vector / 2), axis_of[j]);
      const long double angle = static_cast<long double>(position) * std::pow(1e4L, -static_cast<long double>(j) / 8);
      const std::size_t at = vector * 16 + j;
      const long double x = q[at], y = q[at + 8];
      EXPECT_NEAR(turned.head[at], static_cast<double>(x * std::cos(angle) - y * std::sin(angle)), 1e-14) << at;
      EXPECT_NEAR(turned.head[at + 8], static_cast<double>(y * std::cos(angle) + x * std::sin(angle)), 1e-14) << at;
      const long double gx = back[at], gy = back[at + 8];
      EXPECT_NEAR(gradient.head[at], static_cast<double>(gx * std::cos(angle) + gy * std::sin(angle)), 1e-14) << at;
      EXPECT_NEAR(gradient.head[at + 8], static_cast<double>(gy * std::cos(angle) - gx * std::sin(angle)), 1e-14) << at;
    }
  // Of a key, whose gradient is the sum of both heads'.
  const auto of_heads = to_doubles(inputs.at("grad_rotated_k"));
  const auto& of_key = truth->total("grad_k").values;
  ASSERT_EQ(of_key.size() * 2, of_heads.size());
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t j = 0; j < 8; ++j) {
      const auto position = c.positions.at(static_cast<std::int64_t>(row), axis_of[j]);
      const long double angle = static_cast<long double>(position) * std::pow(1e4L, -static_cast<long double>(j) / 8);
      const std::size_t at = row * 32 + j;
      const long double gx = static_cast<long double>(of_heads[at]) + of_heads[at + 16],
                        gy = static_cast<long double>(of_heads[at + 8]) + of_heads[at + 24];
      const double x = of_key.head[row * 16 + j], y = of_key.head[row * 16 + j + 8];
      EXPECT_NEAR(x, static_cast<double>(gx * std::cos(angle) + gy * std::sin(angle)), 1e-14) << row << ' ' << j;
      EXPECT_NEAR(y, static_cast<double>(gy * std::cos(angle) - gx * std::sin(angle)), 1e-14) << row << ' ' << j;
    }
}

TEST(Axes, QueriesAndKeysTurnByTheirAxes) {
  const std::string rotation = R"(, "attention": {"heads": 4, "kv_heads": 2, "batch": 2})";
  const std::string stages = R"("stages": ["positions", "angle", "rotated_q", "rotated_k"]})";
  for (const auto& [problem, recipe] :
       {std::pair{kQwen2, "hf-qwen2-vl-4.57.6-rotation"}, std::pair{kQwen2, "hf-qwen2-vl-5.24-rotation"},
        std::pair{kQwen3, "hf-qwen3-vl-4.57.6-rotation"}, std::pair{kQwen3, "hf-qwen3-vl-5.24-rotation"}}) {
    const auto results = results_of(problem + rotation, R"(["float32", "bfloat16"])", on_cpu(recipe, "a"),
                                    R"({"relation": "accuracy", )" + stages);
    EXPECT_EQ(results.size(), 8U);
    for (const Result& result : results)
      EXPECT_EQ(result.verdict, Verdict::pass) << recipe << ' ' << result.id << ' ' << result.reason;
  }
  for (const Result& result :
       results_of(kQwen2 + rotation, R"("float32")", on_cpu("mrope-axes-exchanged-rotation", "a"),
                  R"({"relation": "accuracy", "stages": ["rotated_q", "rotated_k"]})")) {
    EXPECT_EQ(result.verdict, Verdict::fail) << result.id;
    EXPECT_EQ(result.first_stage, "angle");
  }
  for (const auto& [problem, recipe] :
       {std::pair{kQwen2, "hf-llama-5.24-rotation"}, std::pair{kQwen2, "hf-qwen3-vl-5.24-rotation"}})
    for (const Result& result : results_of(problem + rotation, R"("float32")", on_cpu(recipe, "a"),
                                           R"({"relation": "accuracy", "stages": ["rotated_q"]})"))
      EXPECT_THAT(result.reason, testing::HasSubstr("the case has sections one after the other")) << result.id;
}

// Against tables of one axis, made for each axis alone: what the checks judge by has each pair's own position.
TEST(Axes, TheTruthOfARowIsThatOfItsAxes) {
  Case c;
  c.rope.head_dim = 16;
  c.rope.mrope_section = {4, 2, 2};
  c.rope.mrope_interleaved = true;
  c.positions.axes = {{5, 0, 9}, {0, 0, 100}, {7, 1, 3000}};
  Truth truth(c.rope, c.positions);
  truth.start_block(1, 2);
  EXPECT_THAT(truth.positions(), testing::ElementsAre(1, 3000));
  EXPECT_THAT(truth.positions_of_pairs(1), testing::ElementsAre(9, 100, 3000, 9, 100, 3000, 9, 9));
  Rope one = c.rope;
  one.mrope_section.clear();
  one.mrope_interleaved = false;
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    Truth alone(one, {0, {c.positions.at(2, axis)}});
    alone.start_block(0, 1);
    for (std::size_t j = 0; j < 8; ++j) {
      if (truth.axis_of_pairs()[j] == axis) {
        EXPECT_EQ(truth.of_exact().sin[8 + j], alone.of_exact().sin[j]) << j;
      }
    }
  }
}

// transformers' slice(axis, 3 * section, 3) ends at the last pair: 16, 24, 24 read as interleaved.
TEST(AxisLists, ReadSectionsInBothWays) {
  Rope rope;
  rope.head_dim = 16;
  rope.mrope_section = {1, 3, 4};
  auto lists = axis_lists(rope);
  EXPECT_THAT(lists.at("axis_columns"), testing::ElementsAre(0, 9, 10, 11, 20, 21, 22, 23));
  EXPECT_EQ(lists.at("axis_columns"), lists.at("axis_columns_blocked"));
  EXPECT_THAT(lists.at("axis_columns_exchanged"), testing::ElementsAre(0, 17, 18, 19, 12, 13, 14, 15));
  EXPECT_THAT(lists.at("axis_columns_interleaved"), testing::ElementsAre(0, 9, 18, 3, 12, 21, 6, 15));
  EXPECT_THAT(lists.at("pairs_of_sections"), testing::ElementsAre(0, 0, 1, 2, 0, 1, 2, 3));
}

}  // namespace
}  // namespace ropewalk::test
