// Observed stages, empty masks, scales, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/lora_scale.hpp"
#include "tests/reference/lora_oracle.hpp"
#include "tests/reference/lora_problems.hpp"

namespace ropewalk::reference {
namespace {

const LoraMap kMap{4, 2, 2, {true, false, true}, LoraLayout::grouped};

TEST(LoraObserved, DeltaIsScatteredAsItIs) {
  OwnedProblem owned(kMap, kScales[0], 3, 8, Kind::doubles, 1);
  std::vector<double> delta(3 * 12);
  std::iota(delta.begin(), delta.end(), 1);
  delta[1] = -0.0;
  delta[2] = NAN;
  delta[3] = -HUGE_VAL;
  owned.problem.inputs.delta = delta;
  owned.problem.inputs.x = {};  // not needed
  const Enclosures padded = lora_padded(owned.problem);
  ASSERT_EQ(padded.size(), std::size_t{3 * 16});
  const std::vector<double> expected = lora_pad(kMap, delta);
  for (std::size_t i = 0; i < padded.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(padded.head[i]), std::bit_cast<std::uint64_t>(expected[i])) << i;
    EXPECT_EQ(padded.tail[i], 0);
    EXPECT_EQ(padded.bound[i], 0);
  }
  EXPECT_TRUE(std::signbit(padded.head[1]) && std::isnan(padded.head[2]) && std::isinf(padded.head[3]));
}

// The output starts from what was observed, rounded right also where that makes a tie.
TEST(LoraObserved, PaddedIsAddedToTheProduct) {
  for (const Kind kind : {Kind::doubles, Kind::bfloats, Kind::near_middles}) {
    OwnedProblem owned(kMap, kScales[1], 3, 8, kind, 2);
    std::vector<double> observed(3 * 16);
    Draws numbers(3);
    for (std::size_t i = 0; i < observed.size(); ++i) observed[i] = number_of(kind, numbers, i);
    for (const bool from_delta : {false, true}) {
      LoraProblem p = owned.problem;
      (from_delta ? p.inputs.delta : p.inputs.padded) = std::span(observed).first(from_delta ? 3 * 12 : 3 * 16);
      const std::vector<double> added = from_delta ? lora_pad(kMap, p.inputs.delta) : observed;
      const Enclosures output = lora_output(p);
      std::vector<LoraTruth> truth = lora_truth(LoraStage::output, owned.problem);
      Enclosures unknown = output;
      unknown.bound.assign(unknown.size(), HUGE_VAL);
      Proof proof;
      for (const Format format : kFormats) {
        const std::vector<double> rounded = round_certified(format, LoraStage::output, p, output, proof);
        const std::vector<double> exact = round_certified(format, LoraStage::output, p, unknown, proof);
        for (std::size_t i = 0; i < truth.size(); ++i) {
          LoraTruth t = truth[i];
          t.factor = Dyadic();
          t.base.add(Dyadic(added[i]));
          ASSERT_TRUE(t.within(p.scale, output.head[i], output.tail[i], output.bound[i]));
          ASSERT_EQ(rounded[i], t.rounded(format, p.scale).value);
          ASSERT_EQ(exact[i], rounded[i]);
        }
      }
    }
  }
}

TEST(LoraObserved, WhatIsNotFiniteIsPassedOn) {
  OwnedProblem owned(kMap, kScales[0], 3, 8, Kind::doubles, 4);
  std::vector<double> padded(3 * 16);
  padded[5] = NAN;
  padded[7] = HUGE_VAL;
  owned.problem.inputs.padded = padded;
  const Enclosures output = lora_output(owned.problem);
  Proof proof;
  const std::vector<double> rounded =
      round_certified(Format::bfloat16, LoraStage::output, owned.problem, output, proof);
  EXPECT_TRUE(std::isnan(rounded[5]));
  EXPECT_EQ(rounded[7], HUGE_VAL);
  EXPECT_EQ(std::count_if(rounded.begin(), rounded.end(), [](double v) { return std::isfinite(v); }), 46);
}

TEST(LoraEdges, WithoutEnabledPartsThereIsNoUpdate) {
  LoraMap none = kMap;
  none.enable[0] = none.enable[2] = false;
  const OwnedProblem owned(none, kScales[0], 3, 8, Kind::floats, 5);
  const LoraProblem& p = owned.problem;
  for (const LoraStage stage :
       {LoraStage::delta, LoraStage::weight_delta, LoraStage::grad_lora_a, LoraStage::grad_lora_b})
    EXPECT_EQ(lora_enclosures(stage, p).size(), 0U);
  EXPECT_THAT(lora_padded(p).head, testing::Each(0.0));
  EXPECT_EQ(lora_merged(p).head, owned.weight);
}

// B is 0 when training starts: the update is exactly 0, whatever the scale.
TEST(LoraEdges, OfZeroBIsExactlyZero) {
  for (const LoraScale& scale : kScales) {
    OwnedProblem owned(kMap, scale, 3, 8, Kind::doubles, 6);
    std::fill(owned.b.begin(), owned.b.end(), 0);
    for (const LoraStage stage :
         {LoraStage::delta, LoraStage::padded, LoraStage::weight_delta, LoraStage::grad_lora_a}) {
      const Enclosures values = lora_enclosures(stage, owned.problem);
      EXPECT_THAT(values.head, testing::Each(0.0));
      EXPECT_THAT(values.bound, testing::Each(0.0));
      for (const double v : values.head) EXPECT_FALSE(std::signbit(v));
    }
    EXPECT_EQ(lora_merged(owned.problem).head, owned.weight);
  }
}

// alpha 16 and r 8: the three scales that projects use.
TEST(LoraScales, AreTheRealNumbers) {
  const Enclosure over_r = enclosed({16, 8, LoraScale::over_r}), plain = enclosed({16, 8, LoraScale::plain});
  EXPECT_EQ(over_r.head, 2);
  EXPECT_EQ(over_r.bound, 0);
  EXPECT_EQ(plain.head, 16);
  EXPECT_EQ(plain.bound, 0);
  const Enclosure over_root = enclosed({16, 8, LoraScale::over_sqrt_r});
  EXPECT_EQ(over_root.head, std::sqrt(32.0));
  EXPECT_GT(over_root.bound, 0);
  EXPECT_LT(over_root.bound, 8 * 0x1p-106);
  const Enclosure square = enclosed({3, 4, LoraScale::over_sqrt_r});
  EXPECT_EQ(square.head, 1.5);
  EXPECT_EQ(square.bound, 0);
  LoraTruth one;
  one.factor = Dyadic(1);
  for (const LoraScale& scale :
       {LoraScale{16, 8, LoraScale::over_sqrt_r}, LoraScale{0.1, 7, LoraScale::over_r},
        LoraScale{-1e-5, 3, LoraScale::over_sqrt_r}, LoraScale{1e300, 49, LoraScale::over_r}}) {
    const Enclosure e = enclosed(scale);
    EXPECT_TRUE(one.within(scale, e.head, e.tail, e.bound));
    EXPECT_FALSE(one.within(scale, e.head, e.tail, e.bound / 4));
    EXPECT_LE(e.bound, std::fabs(e.head) * 0x1p-106);
  }
}

TEST(LoraEdges, RefuseMissingWrongAndInfiniteNumbers) {
  const OwnedProblem owned(kMap, kScales[0], 3, 8, Kind::floats, 8);
  const auto refuses = [&](LoraStage stage, const auto& change) {
    LoraProblem p = owned.problem;
    change(p);
    EXPECT_THROW(lora_enclosures(stage, p), std::invalid_argument);
  };
  std::vector<double> bad = owned.x;
  bad[3] = NAN;
  refuses(LoraStage::output, [&](LoraProblem& p) { p.inputs.x = bad; });
  refuses(LoraStage::output, [](LoraProblem& p) { p.inputs.weight = p.inputs.weight.first(5); });
  refuses(LoraStage::delta, [](LoraProblem& p) { p.inputs.a = {}; });
  refuses(LoraStage::delta, [](LoraProblem& p) { p.inputs.b = {}; });
  refuses(LoraStage::grad_x, [](LoraProblem& p) { p.inputs.grad_output = {}; });
  refuses(LoraStage::grad_lora_b, [](LoraProblem& p) { p.inputs.grad_output = {}; });
  refuses(LoraStage::output, [](LoraProblem& p) { p.inputs.padded = p.inputs.x; });
  refuses(LoraStage::delta, [](LoraProblem& p) { p.scale.r = 0; });
  refuses(LoraStage::delta, [](LoraProblem& p) { p.scale.alpha = NAN; });
  refuses(LoraStage::delta, [](LoraProblem& p) { p.map.groups = 3; });
}

}  // namespace
}  // namespace ropewalk::reference
