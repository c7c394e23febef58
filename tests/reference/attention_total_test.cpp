// Attention of q and k that are real numbers: rotated by the exact table.
#include "reference/attention_tiers.hpp"
#include "reference/rotation.hpp"
#include "tests/reference/attention_data.hpp"
#include "tests/reference/attention_oracle.hpp"
#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

// q and k as numbers within a bound whose heads and tails are off by most of it.
Enclosures blurred(const std::vector<double>& x, double relative, Draws& draws) {
  Enclosures e;
  e.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = relative * std::fabs(x[i]) * (2 * draws.unit() - 1);
    const DoubleDouble v = two_sum(x[i], off);
    e.head[i] = v.high;
    e.tail[i] = v.low;
    e.bound[i] = std::fabs(off) * 1.0001;
  }
  return e;
}

Attention problem() {
  Attention a;
  a.q_len = a.kv_len = 12;
  a.heads = 4;
  a.kv_heads = 2;
  a.head_dim = 8;
  a.causal = Causal::top_left;
  return a;
}

TEST(AttentionTotal, HoldsForNumbersKnownWithinABound) {
  Violations violations;
  const Attention a = problem();
  Draws draws(3);
  for (const double relative : {0.0, 0x1p-90, 0x1p-60, 0x1p-40, 0x1p-12}) {
    for (const AttentionData& data : hard_data(a, Format::float32, 4000)) {
      const AttentionTruth truth = attention_truth(a, data.q, data.k, data.v);
      const Enclosures q = blurred(data.q, relative, draws), k = blurred(data.k, relative, draws);
      const AttentionInputs inputs = {q, k, data.v};
      Enclosures out, probabilities;
      for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
        attention_output(a, inputs, accuracy, out);
        for (std::size_t i = 0; i < out.size(); ++i) violations.check(truth.output[i], 0x1p-300, out, i, data.name);
      }
      attention_probabilities(a, inputs, probabilities);
      for (std::size_t i = 0; i < probabilities.size(); ++i)
        violations.check(truth.probabilities[i], 0x1p-300, probabilities, i, data.name + " p");
    }
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 1e-3);
}

// Scores depend on the difference of positions only: all positions moved, the same real numbers.
TEST(AttentionTotal, DoesNotChangeWhenAllPositionsMove) {
  const Attention a = problem();
  const AttentionData data = normal_data(a, Format::bfloat16, 5);
  const Table table(Frequencies::powers(10000, a.head_dim));
  const Rotation rotation{a.head_dim, a.head_dim, Pairing::half_split, false};
  std::vector<Enclosures> scores, outputs;
  for (const std::int64_t first : {0, 100000}) {
    SinCos block;
    table.dense(first, a.q_len, block);
    Enclosures q, k;
    rotate_vectors(rotation, data.q, cosines(block), sines(block), q);
    rotate_vectors(rotation, data.k, cosines(block), sines(block), k);
    attention_scores(a, {q, k, data.v}, scores.emplace_back());
    attention_output(a, {q, k, data.v}, Accuracy::rounding, outputs.emplace_back());
  }
  for (const auto* both : {&scores, &outputs}) {
    const Enclosures &x = (*both)[0], &y = (*both)[1];
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isinf(x.head[i])) continue;
      EXPECT_LE(std::fabs((x.head[i] - y.head[i]) + (x.tail[i] - y.tail[i])), x.bound[i] + y.bound[i]) << i;
      EXPECT_LT(x.bound[i], both == &scores ? 0x1p-85 : 0x1p-55) << i;
    }
  }
}

TEST(AttentionTotal, HasNoCorrectRounding) {
  const Attention a = problem();
  const AttentionData data = normal_data(a, Format::bfloat16, 5);
  Draws draws(3);
  const Enclosures q = blurred(data.q, 0x1p-60, draws);
  std::vector<double> out(data.q.size());
  EXPECT_THROW(attention_rounded(a, {q, data.k, data.v}, Format::float32, out), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk::reference
