// Every kind of mask, scale and head map against the plain evaluation in MPFR: scores, probabilities, output,
// gradients.
#include "tests/reference/attention_variants.hpp"

#include "reference/attention_rows.hpp"
#include "reference/attention_tiers.hpp"
#include "tests/reference/attention_data.hpp"
#include "tests/reference/attention_oracle.hpp"
#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kTruthError = 0x1p-250;  // the oracle's, also with masks near 2^128

// NaN and -infinity are the same on both sides; everything else is enclosed.
void check_all(const std::vector<Real>& truth, double truth_error, const Enclosures& got, const std::string& where,
               Violations& violations) {
  ASSERT_EQ(truth.size(), got.size()) << where;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (mpfr_nan_p(raw(truth[i]))) {
      ASSERT_TRUE(std::isnan(got.head[i])) << where << ' ' << i;
    } else {
      violations.check(truth[i], truth_error, got, i, where);
    }
  }
}

template <class Check>
void for_each_variant(const Check& check_one) {
  for (const AttentionVariant& variant : attention_variants()) {
    const Attention a = variant.attention();
    for (const Format format : {Format::float64, Format::float32, Format::bfloat16}) {
      const AttentionData data = normal_data(a, format, 31);
      check_one(a, data, attention_truth(a, data.q, data.k, data.v), variant.name);
    }
  }
}

TEST(AttentionVariants, Outputs) {
  Violations violations;
  for_each_variant([&](const Attention& a, const AttentionData& data, const AttentionTruth& truth, const auto& name) {
    Enclosures out;
    for (const Accuracy accuracy : {Accuracy::comparison, Accuracy::rounding}) {
      out.resize(truth.output.size());
      for (const AttentionKernels& kernels : attention_kernels()) {
        attention_by(kernels, a, data.inputs(), accuracy, {}, out, {});
        check_all(truth.output, kTruthError, out, name + " " + kernels.name, violations);
        for (std::size_t i = 0; i < out.size(); ++i)
          ASSERT_LT(out.bound[i], accuracy == Accuracy::rounding ? 1e-16 : 1e-11) << name << ' ' << i;
      }
    }
    std::vector<double> rounded(out.size());
    EXPECT_EQ(attention_rounded(a, data.inputs(), Format::bfloat16, rounded).undecided, 0) << name;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (mpfr_nan_p(raw(truth.output[i]))) continue;
      ASSERT_EQ(rounded[i], rounded_by_quanta(truth.output[i], Format::bfloat16)) << name << ' ' << i;
    }
  });
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 1e-4);
}

TEST(AttentionVariants, Scores) {
  Violations violations;
  for_each_variant([&](const Attention& a, const AttentionData& data, const AttentionTruth& truth, const auto& name) {
    Enclosures out;
    attention_scores(a, data.inputs(), out);
    ASSERT_EQ(out.size(), truth.logits.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (truth.seen[i] == 0) {
        ASSERT_EQ(out.head[i], -INFINITY) << name << ' ' << i;
      } else {
        violations.check(truth.logits[i], kTruthError, out, i, name);
      }
    }
  });
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 1e-4);
}

TEST(AttentionVariants, Probabilities) {
  Violations violations;
  for_each_variant([&](const Attention& a, const AttentionData& data, const AttentionTruth& truth, const auto& name) {
    Enclosures out;
    attention_probabilities(a, data.inputs(), out);
    check_all(truth.probabilities, kTruthError, out, name, violations);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_LT(out.bound[i], 1e-19) << name << ' ' << i;
  });
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 1e-4);
}

TEST(AttentionVariants, Gradients) {
  Violations violations;
  for_each_variant([&](const Attention& a, const AttentionData& data, const AttentionTruth& truth, const auto& name) {
    std::vector<double> grad_output(truth.output.size());
    Draws draws(77);
    for (double& g : grad_output) g = static_cast<float>(draws.normal());
    Enclosures q, k, v;
    attention_gradients(a, data.inputs(), grad_output, q, k, v);
    const GradientTruth gradients = gradient_truth(a, truth, data.q, data.k, data.v, grad_output);
    check_all(gradients.q, kTruthError, q, name + " q", violations);
    check_all(gradients.k, kTruthError, k, name + " k", violations);
    check_all(gradients.v, kTruthError, v, name + " v", violations);
    for (const Enclosures* e : {&q, &k, &v}) {
      for (std::size_t i = 0; i < e->size(); ++i) ASSERT_LT(e->bound[i], 1e-17) << name << ' ' << i;
    }
  });
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 1e-4);
}

TEST(AttentionVariants, StagesHoldOnHardData) {
  Violations violations;
  Attention a;
  a.q_len = a.kv_len = 10;
  a.heads = 2;
  a.kv_heads = 1;
  a.head_dim = 5;
  a.causal = Causal::top_left;
  for (const Format format : {Format::float32, Format::float16}) {
    for (const AttentionData& data : hard_data(a, format, 3000)) {
      const AttentionTruth truth = attention_truth(a, data.q, data.k, data.v);
      std::vector<double> grad_output = normal_data(a, format, 9).q;
      const GradientTruth gradients = gradient_truth(a, truth, data.q, data.k, data.v, grad_output);
      Enclosures scores, probabilities, q, k, v;
      attention_scores(a, data.inputs(), scores);
      attention_probabilities(a, data.inputs(), probabilities);
      attention_gradients(a, data.inputs(), grad_output, q, k, v);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        if (truth.seen[i] != 0) violations.check(truth.logits[i], kTruthError, scores, i, data.name + " scores");
      }
      check_all(truth.probabilities, kTruthError, probabilities, data.name + " probabilities", violations);
      check_all(gradients.q, kTruthError, q, data.name + " q", violations);
      check_all(gradients.k, kTruthError, k, data.name + " k", violations);
      check_all(gradients.v, kTruthError, v, data.name + " v", violations);
    }
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
}

}  // namespace
}  // namespace ropewalk::reference
