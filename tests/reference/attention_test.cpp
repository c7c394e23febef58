// Outputs against MPFR on data that make attention hard.
#include "reference/attention.hpp"

#include "reference/attention_rows.hpp"
#include "reference/attention_tiers.hpp"
#include "tests/reference/attention_data.hpp"
#include "tests/reference/attention_oracle.hpp"
#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kTruthError = 0x1p-300;

Attention small(std::int64_t length, int heads, int kv_heads, int dim) {
  Attention a;
  a.q_len = a.kv_len = length;
  a.heads = heads;
  a.kv_heads = kv_heads;
  a.head_dim = dim;
  a.causal = Causal::top_left;
  return a;
}

void check_outputs(const AttentionTruth& truth, const Enclosures& got, const std::string& where,
                   Violations& violations) {
  ASSERT_EQ(got.size(), truth.output.size());
  for (std::size_t i = 0; i < got.size(); ++i) violations.check(truth.output[i], kTruthError, got, i, where);
}

// Every set of instructions, both tiers, without the way out to MPFR, and the public function.
TEST(Attention, BoundsHoldOnHardData) {
  Violations violations;
  AttentionProof proof;
  for (const Format format : kAllFormats) {
    const Attention a = small(14, 4, 2, 12);
    for (const AttentionData& data : hard_data(a, format, 1000)) {
      const AttentionTruth truth = attention_truth(a, data.q, data.k, data.v);
      Enclosures out;
      for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
        out.resize(truth.output.size());
        for (const AttentionKernels& kernels : attention_kernels()) {
          attention_by(kernels, a, data.inputs(), accuracy, {}, out, {});
          check_outputs(truth, out, data.name + " " + kernels.name, violations);
        }
        proof += attention_output(a, data.inputs(), accuracy, out);
        check_outputs(truth, out, data.name, violations);
      }
    }
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 1e-4);  // a million times smaller bounds would not hold
  EXPECT_GT(proof.tier1, 0);
  EXPECT_GT(proof.tier2, 0);
  EXPECT_GT(proof.exact, 0);
  RecordProperty("worst", std::to_string(violations.worst));
  std::printf("%lld elements, largest error / bound %.2g; tiers %lld %lld %lld, exact %lld\n",
              static_cast<long long>(violations.checked), violations.worst, static_cast<long long>(proof.tier1),
              static_cast<long long>(proof.tier2), static_cast<long long>(proof.tier3),
              static_cast<long long>(proof.exact));
}

TEST(Attention, RoundsCorrectlyOnHardData) {
  AttentionProof proof;
  for (const Format inputs : {Format::float32, Format::bfloat16, Format::float16}) {
    const Attention a = small(17, 2, 1, 8);
    for (const AttentionData& data : hard_data(a, inputs, 2000)) {
      const AttentionTruth truth = attention_truth(a, data.q, data.k, data.v);
      std::vector<double> out(truth.output.size());
      for (const Format format : kAllFormats) {
        const AttentionProof one = attention_rounded(a, data.inputs(), format, out);
        EXPECT_EQ(one.undecided, 0) << data.name << ' ' << name_of(format);
        proof += one;
        for (std::size_t i = 0; i < out.size(); ++i) {
          // The oracle's 400 bits cannot see a tie: what lies within 2^-300 of a middle may go either way here.
          Real low = truth.output[i], high = low;
          mpfr_sub_d(raw(low), raw(low), kTruthError, MPFR_RNDD);
          mpfr_add_d(raw(high), raw(high), kTruthError, MPFR_RNDU);
          const double down = rounded_by_quanta(low, format), up = rounded_by_quanta(high, format);
          ASSERT_TRUE(down <= out[i] && out[i] <= up)
              << data.name << ' ' << name_of(format) << ' ' << i << ' ' << out[i] << ' ' << down << ' ' << up;
        }
      }
    }
  }
  EXPECT_EQ(proof.undecided, 0);
  EXPECT_GT(proof.tier3, 0);
  EXPECT_GT(proof.ties, 0);
  std::printf("tiers %lld %lld %lld, ties %lld, exact %lld\n", static_cast<long long>(proof.tier1),
              static_cast<long long>(proof.tier2), static_cast<long long>(proof.tier3),
              static_cast<long long>(proof.ties), static_cast<long long>(proof.exact));
}

// More than one block of queries and of keys.
TEST(Attention, BoundsHoldAcrossBlocks) {
  Violations violations;
  for (const Format format : {Format::float32, Format::bfloat16}) {
    Attention a = small(300, 1, 1, 4);
    a.q_len = 100;
    a.causal = Causal::bottom_right;
    for (const std::int64_t window : {0, 140}) {
      a.window = window;
      const AttentionData data = normal_data(a, format, 5);
      const AttentionTruth truth = attention_truth(a, data.q, data.k, data.v);
      Enclosures out;
      for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
        attention_output(a, data.inputs(), accuracy, out);
        check_outputs(truth, out, data.name, violations);
        for (std::size_t i = 0; i < out.size(); ++i)
          ASSERT_LT(out.bound[i], accuracy == Accuracy::rounding ? 1e-16 : 1e-11);
      }
    }
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
}

// One large product and many that vanish beside it, each rounded away: the dot product's error is of the size that its
// bound allows, and the other key, whose logit is nearly the same, has none.
TEST(Attention, BoundsHoldWhereProductsAreRoundedAway) {
  Violations violations;
  Attention a = small(2, 1, 1, 64);
  a.over_root = false;
  a.causal = Causal::none;
  const auto small_number = static_cast<double>(static_cast<float>(0x1p-22 * 0.95));
  std::vector<double> q(128, small_number), k(128, small_number), v(128, 1.0);
  q[0] = q[64] = k[0] = k[64] = 32;
  for (std::size_t c = 65; c < 128; ++c) k[c] = 0;
  for (std::size_t c = 64; c < 128; ++c) v[c] = -1;
  const AttentionTruth truth = attention_truth(a, q, k, v);
  for (const AttentionKernels& kernels : attention_kernels()) {
    for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
      Enclosures out;
      out.resize(q.size());
      attention_by(kernels, a, {q, k, v}, accuracy, {}, out, {});
      check_outputs(truth, out, kernels.name, violations);
    }
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 0.1);
}

// The same among the second tier's cross products: one key whose second slice meets the query's large number, and many
// products that vanish beside that one; the other key has no second slice, and nearly the same logit.
TEST(Attention, BoundsHoldWhereCrossProductsAreRoundedAway) {
  Violations violations;
  Attention a = small(2, 1, 1, 64);
  a.over_root = false;
  a.causal = Causal::none;
  const double large = 16, low = 0x1p-24 * large, step = 0x1p-22 * large;
  std::vector<double> q(128, step), k(128, 0x1p-31 * low * 0.95), v(128, 1.0);
  q[0] = q[64] = k[64] = large;
  k[0] = large + low;
  for (std::size_t c = 65; c < 128; ++c) k[c] = 0;
  for (std::size_t c = 64; c < 128; ++c) v[c] = -1;
  const AttentionTruth truth = attention_truth(a, q, k, v);
  for (const AttentionKernels& kernels : attention_kernels()) {
    Enclosures out;
    out.resize(q.size());
    attention_by(kernels, a, {q, k, v}, Accuracy::rounding, {}, out, {});
    check_outputs(truth, out, kernels.name, violations);
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 0.05);  // without the bound's cross term the second tier promises too much here
}

TEST(Attention, DecidesTies) {
  Attention a = small(2, 1, 1, 2);
  std::vector<double> out(4);
  const std::vector<double> q = {1, 2, 3, 4}, k = {1, 1, 1, 1};
  const auto second_row = [&](double first, double second) {
    const std::vector<double> v = {first, 0, second, 0};
    const AttentionProof proof = attention_rounded(a, {q, k, v}, Format::bfloat16, out);
    EXPECT_EQ(proof.undecided, 0);
    EXPECT_EQ(out[0], first);
    return out[2];
  };
  EXPECT_EQ(second_row(1, 1 + 0x1p-7), 1);  // between 1 and its neighbour: to the even one
  EXPECT_EQ(second_row(1 + 0x1p-7, 1 + 0x1p-6), 1 + 0x1p-6);
  // The same logits by other products: 2 * 0.5 and 1 * 1; scale 1/sqrt(2) is irrational.
  const std::vector<double> other_q = {1, 1, 1, 2}, other_k = {1, 0, 0, 0.5};
  const std::vector<double> v = {1, 1, 1 + 0x1p-7, 1};
  EXPECT_EQ(attention_rounded(a, {other_q, other_k, v}, Format::bfloat16, out).ties, 1);
  EXPECT_EQ(out[2], 1);
  // Equal only through the mask, where the scale is rational.
  a.over_root = false;
  const std::vector<double> mask = {0, 0, -1, 0}, no_k = {2, 0, 1, 0};
  a.mask = mask;
  EXPECT_EQ(attention_rounded(a, {other_q, no_k, v}, Format::bfloat16, out).ties, 1);
  EXPECT_EQ(out[2], 1);
  // A sink as strong as the only other key: half of the value.
  const std::vector<double> sinks = {1}, one_key_mask = {0, 0, 0, -INFINITY}, w = {1, 1, 1, 1};
  a.sinks = sinks;
  a.mask = one_key_mask;
  const std::vector<double> sink_k = {1, 0, 1, 0}, sink_v = {2 + 0x1p-6 + 0x1p-7, 1, 1, 1};
  EXPECT_EQ(attention_rounded(a, {other_q, sink_k, sink_v}, Format::bfloat16, out).ties, 2);
  EXPECT_EQ(out[2], 1 + 0x1p-6);  // of 1 + 2^-7 + 2^-8
}

// A value halfway between two numbers, and another key whose weight is e^-1000 or e^-100000: far below any precision
// that is tried, but its side decides.
TEST(Attention, DecidesNearTiesOfDominatedKeys) {
  Attention a = small(2, 1, 1, 2);
  a.over_root = false;
  std::vector<double> out(4);
  for (const double gap : {1000.0, 100000.0}) {
    const std::vector<double> q = {1, 1, 1, 1}, k = {gap, 0, 0, 0};
    const double middle = 1 + 0x1p-8;
    const auto second_row = [&](double other) {
      const std::vector<double> v = {middle, 0, other, 0};
      const AttentionProof proof = attention_rounded(a, {q, k, v}, Format::bfloat16, out);
      EXPECT_EQ(proof.undecided, 0);
      return out[2];
    };
    EXPECT_EQ(second_row(2), 1 + 0x1p-7);
    EXPECT_EQ(second_row(-2), 1);
    EXPECT_EQ(second_row(middle), 1);  // a tie
  }
}

TEST(Attention, SaysNanWhereARowSeesOne) {
  const Attention a = small(4, 2, 1, 4);
  AttentionData data = normal_data(a, Format::float32, 3);
  data.k[2 * 4 + 1] = std::nan("");  // key 2
  data.q[3 * 8 + 4] = INFINITY;      // query 3, head 1
  for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
    Enclosures out;
    attention_output(a, data.inputs(), accuracy, out);
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out.head[i]), i / 8 >= 2) << i;
  }
  std::vector<double> rounded(data.q.size());
  attention_rounded(a, data.inputs(), Format::bfloat16, rounded);
  for (std::size_t i = 0; i < rounded.size(); ++i) EXPECT_EQ(std::isnan(rounded[i]), i / 8 >= 2) << i;
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const Attention good = small(4, 2, 1, 4);
  const AttentionData data = normal_data(good, Format::float32, 3);
  Enclosures out;
  const auto refused = [&](auto change) {
    Attention a = good;
    change(a);
    EXPECT_THROW(attention_output(a, data.inputs(), Accuracy::comparison, out), std::invalid_argument);
  };
  EXPECT_NO_THROW(attention_output(good, data.inputs(), Accuracy::comparison, out));
  const std::vector<double> three(3), nan_mask(16, std::nan(""));
  refused([](Attention& a) { a.kv_heads = 3; });
  refused([](Attention& a) { a.q_len = 5; });
  refused([](Attention& a) { a.value_dim = 3; });
  refused([](Attention& a) { a.scale = INFINITY; });
  refused([](Attention& a) { a.softcap = -1; });
  refused([](Attention& a) { a.window = -1; });
  refused([&](Attention& a) { a.mask = three; });
  refused([&](Attention& a) { a.mask = nan_mask; });
  refused([&](Attention& a) { a.sinks = three; });
  refused([&](Attention& a) { a.alibi = three; });
}

}  // namespace
}  // namespace ropewalk::reference
