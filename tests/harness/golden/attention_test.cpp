// Golden rotations and attention are what plain MPFR gives.
#include <gtest/gtest.h>

#include "harness/cases/exact_attention.hpp"
#include "tests/harness/golden/folders.hpp"
#include "tests/reference/attention_oracle.hpp"
#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::test {
namespace {

using reference::raw;
using reference::Real;

using Values = std::map<std::string, std::vector<double>>;

// A value off by less than 2^-300 of its size: numbers of few bits, ties among them, become what they are.
double rounded(Real value, reference::Format format) {
  mpfr_prec_round(raw(value), 300, MPFR_RNDN);
  return rounded_by_quanta(value, format);
}

void expect_rounded(const std::vector<double>& got, const std::vector<Real>& exact, reference::Format format,
                    const std::string& where) {
  ASSERT_EQ(got.size(), exact.size()) << where;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], rounded(exact[i], format)) << where << ' ' << i;
}

// cos and sin of position * base^(-2 m / width).
void expect_table(const Case& problem, const Values& values, reference::Format format, const std::string& where) {
  const long width = problem.rope.rotary_dim();
  std::vector<Real> cos, sin;
  for (const std::int64_t position : problem.positions.all()) {
    for (long m = 0; m < width / 2; ++m) {
      Real angle = reference::real(problem.rope.base, 500), c = angle, s = angle;
      mpfr_log(raw(angle), raw(angle), MPFR_RNDN);
      mpfr_mul_si(raw(angle), raw(angle), -2 * m, MPFR_RNDN);
      mpfr_div_si(raw(angle), raw(angle), width, MPFR_RNDN);
      mpfr_exp(raw(angle), raw(angle), MPFR_RNDN);
      mpfr_mul_si(raw(angle), raw(angle), position, MPFR_RNDN);
      mpfr_sin_cos(raw(s), raw(c), raw(angle), MPFR_RNDN);
      cos.push_back(c);
      sin.push_back(s);
    }
  }
  expect_rounded(values.at("cos"), cos, format, where + " cos");
  expect_rounded(values.at("sin"), sin, format, where + " sin");
}

// As a matrix: row c of the rotation of one vector has at most two entries.
void expect_rotated(const Case& problem, const Values& values, const std::string& from, std::int64_t heads,
                    reference::Format format, const std::string& where) {
  const std::int64_t dim = problem.rope.head_dim, half = problem.rope.rotary_dim() / 2;
  const bool interleaved = problem.attention->pairing == "interleaved";
  const std::int64_t seq = problem.positions.count();
  const std::vector<double>& x = values.at(from);
  std::vector<Real> exact;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    const std::int64_t channel = i % dim, row = i / dim / heads % seq;
    Real sum = reference::real(2200);
    for (std::int64_t m = 0; m < half; ++m) {
      const std::int64_t first = interleaved ? 2 * m : m, second = interleaved ? 2 * m + 1 : m + half;
      if (channel != first && channel != second) continue;
      const double c = values.at("cos")[static_cast<std::size_t>(row * half + m)],
                   s = values.at("sin")[static_cast<std::size_t>(row * half + m)];
      Real term = reference::real(x[static_cast<std::size_t>(i - channel + first)], 2200);
      mpfr_mul_d(raw(sum), raw(term), channel == first ? c : s, MPFR_RNDN);
      mpfr_set_d(raw(term), x[static_cast<std::size_t>(i - channel + second)], MPFR_RNDN);
      mpfr_mul_d(raw(term), raw(term), channel == first ? -s : c, MPFR_RNDN);
      mpfr_add(raw(sum), raw(sum), raw(term), MPFR_RNDN);
    }
    if (channel >= 2 * half) mpfr_set_d(raw(sum), x[static_cast<std::size_t>(i)], MPFR_RNDN);
    exact.push_back(sum);
  }
  const std::vector<double>& got = values.at("rotated_" + from);
  ASSERT_EQ(got.size(), exact.size());
  for (std::size_t i = 0; i < got.size(); ++i)  // exact sums: ties are what they are
    ASSERT_EQ(got[i], rounded_by_quanta(exact[i], format)) << where << " rotated_" << from << ' ' << i;
}

void expect_scores(const Case& problem, const Values& values, reference::Format format, const std::string& where) {
  const auto batches = static_cast<std::size_t>(problem.attention->batch);
  const auto part = [&](const char* name, std::size_t batch) {
    const auto& all = values.at(name);
    const auto each = static_cast<std::ptrdiff_t>(all.size() / batches), at = each * static_cast<std::ptrdiff_t>(batch);
    return std::vector<double>(all.begin() + at, all.begin() + at + each);
  };
  for (std::size_t b = 0; b < batches; ++b) {
    const auto exact =
        attention_truth(exact_attention(problem), part("rotated_q", b), part("rotated_k", b), part("v", b));
    const auto scores = part("scores", b);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double expected = exact.seen[i] != 0 ? rounded(exact.logits[i], format) : -INFINITY;
      ASSERT_EQ(scores[i], expected) << where << " score " << i;
    }
    expect_rounded(part("probabilities", b), exact.probabilities, format, where + " probabilities");
    expect_rounded(part("output", b), exact.output, format, where + " output");
  }
}

TEST(GoldenAttention, IsWhatMpfrGives) {
  const Folder folder;
  const auto file = folder.write("cases.json", R"({"schema_version": 1, "name": "golden", "cases": [
    {"name": "kinds", "rope": {"head_dim": [4, 6], "max_position": 9},
     "attention": {"heads": 2, "kv_heads": 1, "causal": ["none", "top_left"],
                   "inputs": ["normal", "peaked", "unit", "equal_keys", "zero_queries", "log_uniform"]},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "forms", "rope": {"head_dim": 8, "base": 500000, "partial_rotary_factor": [1, 0.5],
                               "positions": [[0, 1, 2047, 131071, 131072, 1048575]]},
     "attention": {"heads": 4, "kv_heads": [4, 2], "batch": 2, "pairing": ["half_split", "interleaved"],
                   "causal": "top_left", "window": [0, 2], "softcap": [0, 30]},
     "dtype": ["float32", "bfloat16"]}]})");
  const auto cells = read_golden_case_file(file);
  const GoldenTotals totals = write_goldens(cells, folder.path() / "out", 2, [] {});
  for (const Case& cell : cells) {
    Values values;
    for (const auto& [name, tensor] : read_safetensors(folder.path() / "out" / golden_file_name(cell.id)))
      values[name] = to_doubles(tensor);
    const reference::Format format = format_of(cell.dtype);
    expect_table(cell, values, format, cell.id);
    expect_rotated(cell, values, "q", cell.attention->heads, format, cell.id);
    expect_rotated(cell, values, "k", cell.attention->kv_heads, format, cell.id);
    expect_scores(cell, values, format, cell.id);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(cells.size(), 160U);
  EXPECT_GT(totals.proof.fast, 10000);
  EXPECT_GT(totals.proof.fallback, 100);
  EXPECT_GT(totals.proof.midpoints, 100);
  EXPECT_EQ(totals.proof.undecided, 0);
}

}  // namespace
}  // namespace ropewalk::test
