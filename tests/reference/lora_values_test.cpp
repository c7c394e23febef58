// Every element of every stage against exact arithmetic: bounds hold, and each rounding is the right one.
#include <gtest/gtest.h>

#include "reference/enclosed.hpp"
#include "tests/reference/lora_oracle.hpp"
#include "tests/reference/lora_problems.hpp"

namespace ropewalk::reference {
namespace {

constexpr std::array kStages = {LoraStage::delta,  LoraStage::padded, LoraStage::output,      LoraStage::weight_delta,
                                LoraStage::merged, LoraStage::grad_x, LoraStage::grad_lora_a, LoraStage::grad_lora_b};

struct Findings {
  std::int64_t elements = 0, outside = 0, misrounded = 0, ties = 0, infinite = 0, inexact = 0;
  Proof proof;
  std::string first;

  void fault(const std::string& what) {
    if (outside + misrounded == 1) first = what;
  }

  void judge(LoraStage stage, const LoraProblem& problem, const Enclosures& values, const std::vector<LoraTruth>& truth,
             const std::string& where) {
    ASSERT_EQ(values.size(), truth.size()) << where;
    elements += static_cast<std::int64_t>(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      infinite += int{std::isinf(values.bound[i])};
      inexact += int{values.bound[i] != 0};
      if (truth[i].within(problem.scale, values.head[i], values.tail[i], values.bound[i])) continue;
      ++outside;
      fault(where + " element " + std::to_string(i) + " is outside its bound");
    }
    for (const Format format : kFormats) {
      const std::vector<double> rounded = round_certified(format, stage, problem, values, proof);
      for (std::size_t i = 0; i < truth.size(); ++i) {
        const RoundedTruth right = truth[i].rounded(format, problem.scale);
        ties += int{right.tie};
        // The sign of a zero too: that of the value, and plus for 0 itself.
        if (std::bit_cast<std::uint64_t>(rounded[i]) == std::bit_cast<std::uint64_t>(right.value)) continue;
        ++misrounded;
        fault(where + " element " + std::to_string(i) + " in " + std::string(name_of(format)));
      }
    }
  }
};

// All masks, geometries and layouts with one kind of numbers; scales take turns.
Findings judge_all(Kind kind) {
  Findings all;
  std::uint64_t seed = 100 * static_cast<std::uint64_t>(kind);
  for (LoraMap map : kGeometries)
    for (const LoraLayout layout : {LoraLayout::contiguous, LoraLayout::grouped})
      for (unsigned mask = 0; mask < 8; ++mask) {
        map.layout = layout;
        for (unsigned part = 0; part < 3; ++part) map.enable[part] = (mask >> part & 1) != 0;
        const std::size_t turn = seed++ % kScales.size();
        const std::int64_t in = map.head_dim == 3 ? 7 : 8;  // 7: not heads * head_dim
        const OwnedProblem owned(map, kScales[turn], 3, in, kind, seed);
        for (const LoraStage stage : kStages)
          all.judge(stage, owned.problem, lora_enclosures(stage, owned.problem), lora_truth(stage, owned.problem),
                    "mask " + std::to_string(mask) + " heads/groups " + std::to_string(map.heads / map.groups) +
                        " scale " + std::to_string(turn) + " stage " + std::to_string(static_cast<int>(stage)));
      }
  return all;
}

class LoraValues : public testing::TestWithParam<Kind> {};

TEST_P(LoraValues, AreWithinTheirBoundsAndRoundRight) {
  const Findings found = judge_all(GetParam());
  EXPECT_EQ(found.outside, 0) << found.first;
  EXPECT_EQ(found.misrounded, 0) << found.first;
  EXPECT_GT(found.elements, 28000);
  const Proof& p = found.proof;
  EXPECT_EQ(p.fast + p.exact + p.fallback, 4 * found.elements);
  EXPECT_EQ(p.undecided, 0);
  EXPECT_EQ(p.midpoints, found.ties);
  std::printf("elements %lld inexact %lld unbounded %lld; roundings: fast %lld exact %lld fallback %lld ties %lld\n",
              static_cast<long long>(found.elements), static_cast<long long>(found.inexact),
              static_cast<long long>(found.infinite), static_cast<long long>(p.fast), static_cast<long long>(p.exact),
              static_cast<long long>(p.fallback), static_cast<long long>(found.ties));
  EXPECT_EQ(found.infinite > 0, GetParam() == Kind::extremes);
  EXPECT_GE(found.ties, GetParam() == Kind::bfloats || GetParam() == Kind::near_middles ? 1000 : 0);
}

INSTANTIATE_TEST_SUITE_P(Of, LoraValues, testing::ValuesIn(kKinds), name_of_kind);

// Exact arithmetic alone, without help from the enclosures.
TEST(LoraFallback, DecidesEverythingByItself) {
  Findings all;
  for (const Kind kind : {Kind::doubles, Kind::bfloats, Kind::near_middles, Kind::subnormals})
    for (std::size_t turn = 0; turn < kScales.size(); ++turn) {
      const LoraMap map{4, 2, 2, {true, turn % 2 == 0, true}, LoraLayout::grouped};
      const OwnedProblem owned(map, kScales[turn], 2, 5, kind, 7000 + turn);
      for (const LoraStage stage : kStages) {
        Enclosures nothing_known = lora_enclosures(stage, owned.problem);
        nothing_known.bound.assign(nothing_known.size(), HUGE_VAL);
        all.judge(stage, owned.problem, nothing_known, lora_truth(stage, owned.problem), "fallback");
      }
    }
  EXPECT_EQ(all.misrounded, 0) << all.first;
  EXPECT_EQ(all.proof.fallback, 4 * all.elements);
  EXPECT_EQ(all.proof.midpoints, all.ties);
  EXPECT_GT(all.ties, 100);
}

// Of the sum of the terms' absolute values a chain of two products of at most K terms, gamma, and a sum may lose
// (K + 1)^2 + (K + 2)^2 + 8 + 3 * 2 parts in u^2 (docs/numerics.md, 4.2); here K <= 16 = out.
TEST(LoraBounds, AreNarrow) {
  double widest = 0;
  for (const Kind kind : {Kind::doubles, Kind::floats, Kind::cancelling, Kind::spread})
    for (std::size_t turn = 0; turn < kScales.size(); ++turn) {
      OwnedProblem owned({4, 2, 2}, kScales[turn], 3, 8, kind, 8000 + turn);
      const LoraProblem& p = owned.problem;
      std::vector<Enclosures> values;
      for (const LoraStage stage : kStages) values.push_back(lora_enclosures(stage, p));
      owned.problem.scale.alpha = std::fabs(p.scale.alpha);
      for (auto* numbers : {&owned.x, &owned.weight, &owned.bias, &owned.a, &owned.b, &owned.grad_output})
        for (double& v : *numbers) v = std::fabs(v);
      for (std::size_t s = 0; s < kStages.size(); ++s) {
        const Enclosures sizes = lora_enclosures(kStages[s], p);
        for (std::size_t i = 0; i < sizes.size(); ++i)
          if (sizes.head[i] != 0) widest = std::max(widest, values[s].bound[i] / sizes.head[i]);
      }
    }
  EXPECT_GT(widest, 0);
  EXPECT_LT(widest, (17 * 17 + 18 * 18 + 14) * 0x1p-106);
  std::printf("widest bound 2^%.2f of the sum of absolute values\n", std::log2(widest));
}

// The oracle notices a bound that is a little too small, and a map that is not the right one.
TEST(LoraOracle, NoticesSmallBoundsAndWrongMaps) {
  const LoraMap map{4, 2, 2, {true, false, true}, LoraLayout::grouped};
  const OwnedProblem owned(map, kScales[1], 3, 8, Kind::doubles, 9);
  const Enclosures right = lora_enclosures(LoraStage::output, owned.problem);
  const std::vector<LoraTruth> truth = lora_truth(LoraStage::output, owned.problem);
  Findings narrow, moved;
  Enclosures values = right;
  for (double& bound : values.bound) bound *= 0x1p-10;
  narrow.judge(LoraStage::output, owned.problem, values, truth, "narrow");
  EXPECT_GT(narrow.outside, 10);
  LoraProblem contiguous = owned.problem;
  contiguous.map.layout = LoraLayout::contiguous;
  moved.judge(LoraStage::output, contiguous, lora_enclosures(LoraStage::output, contiguous), truth, "moved");
  EXPECT_EQ(moved.outside,
            3 * 10);  // of three rows: {4, 5, 12, 13} too many, {8-11} missing, {6, 7} a query, not a value
  EXPECT_GT(moved.misrounded, 0);
}

}  // namespace
}  // namespace ropewalk::reference
