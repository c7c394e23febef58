// The generated inputs: the generator against its published answers, and what the cases promise of the tensors.
#include "harness/cases/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ropewalk {
namespace {

Case lora_case() {
  Case problem;
  problem.id = "suite/case/float32";
  problem.lora.emplace();
  problem.lora->embedding = 64;
  problem.lora->seq = 32;
  return problem;
}

// Philox4x32-10 on counter 0 with key 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (Salmon et al. 2011, known answers).
TEST(Inputs, TheGeneratorGivesItsPublishedWords) {
  EXPECT_EQ(uniform(0, 0), 0x6627e8p-24);
  EXPECT_EQ(uniform(0, 1), 0xe169c5p-24);
  EXPECT_EQ(uniform(0, 2), 0xbc57acp-24);
  EXPECT_EQ(uniform(0, 3), 0x9b00dbp-24);
}

TEST(Inputs, NormalsHaveMeanZeroAndVarianceOne) {
  const int n = 20000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double v = normal(42, static_cast<std::uint64_t>(i));
    sum += v;
    squares += v * v;
  }
  // Five standard deviations of the mean (1/sqrt(n)) and of the variance (sqrt(2/n)).
  EXPECT_LT(std::fabs(sum / n), 5 / std::sqrt(n));
  EXPECT_LT(std::fabs(squares / n - 1), 5 * std::sqrt(2.0 / n));
}

TEST(Inputs, DependOnIdNameAndSeedAndOnNothingElse) {
  const Case problem = lora_case();
  const auto once = make_inputs(problem), again = make_inputs(problem);
  EXPECT_TRUE(same_bits(once.at("x"), again.at("x")));
  Case other = problem;
  other.id += "2";
  EXPECT_FALSE(same_bits(once.at("x"), make_inputs(other).at("x")));
  other = problem;
  other.seed = 1;
  EXPECT_FALSE(same_bits(once.at("x"), make_inputs(other).at("x")));
  EXPECT_FALSE(same_bits(once.at("lora_a").rows(0, 1), once.at("weight").rows(0, 1)));
}

TEST(Inputs, HaveTheShapesOfTheProtocol) {
  Case problem = lora_case();
  problem.lora->heads = 4;
  problem.lora->groups = 2;
  problem.lora->head_dim = 8;
  problem.lora->r = 3;
  problem.lora->enable = {true, false, true};
  const auto inputs = make_inputs(problem);
  EXPECT_EQ(inputs.at("weight").shape(), (Shape{64, 64}));
  EXPECT_EQ(inputs.at("lora_a").shape(), (Shape{6, 64}));
  EXPECT_EQ(inputs.at("lora_b").shape(), (Shape{48, 3}));
  EXPECT_EQ(inputs.at("grad_output").shape(), (Shape{1, 32, 64}));
  EXPECT_FALSE(inputs.contains("bias"));
}

}  // namespace
}  // namespace ropewalk
