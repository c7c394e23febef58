// Golden rotations and attention are what plain MPFR gives.
#include <gtest/gtest.h>

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

// Query 0 is at key `first`, and counts key `own` as its own.
struct Places {
  std::int64_t queries, keys, first, own;
};
Places places_of(const Attention& a, std::int64_t keys) {
  const std::int64_t queries = a.q_len == 0 ? keys : a.q_len, first = a.offset < 0 ? keys - queries : a.offset;
  return {queries, keys, first, a.causal == "top_left" ? 0 : a.causal == "bottom_right" ? keys - queries : first};
}

// Who is seen, key by key as the manifest's formula says; the rest as the block says and the file holds.
struct Described {
  std::vector<std::uint8_t> seen;
  reference::Attention attention;
};
Described described(const Case& problem, const Values& values) {
  const Attention& a = *problem.attention;
  const Places at = places_of(a, problem.positions.count());
  Described out;
  reference::Attention& r = out.attention;
  r.q_len = at.queries, r.kv_len = at.keys, r.offset = at.own;
  r.heads = static_cast<int>(a.heads), r.kv_heads = static_cast<int>(a.kv_heads);
  r.head_dim = static_cast<int>(problem.rope.head_dim);
  r.softcap = a.softcap;
  if (a.scale != 0) r.scale = a.scale, r.over_root = false;
  if (a.fully_masked == "mean") r.fully_masked = reference::FullyMasked::mean;
  if (a.fully_masked == "nan") r.fully_masked = reference::FullyMasked::nan;
  if (a.alibi) r.alibi = values.at("alibi");
  if (a.sinks) r.sinks = values.at("sinks");
  if (a.mask == "additive") r.mask = values.at("mask");
  for (std::int64_t i = 0; i < at.queries; ++i)
    for (std::int64_t j = 0; j < at.keys; ++j) {
      bool seen = j >= a.padding;
      if (a.causal != "none" && j > at.own + i) seen = false;
      if (a.window > 0 && j <= at.own + i - a.window) seen = false;
      if (a.mask == "boolean" && values.at("mask")[static_cast<std::size_t>(i * at.keys + j)] != 0) seen = false;
      out.seen.push_back(seen ? 1 : 0);
    }
  return out;
}

// As a matrix: row c of the rotation of one vector has at most two entries.
void expect_rotated(const Case& problem, const Values& values, const std::string& from, std::int64_t heads,
                    reference::Format format, const std::string& where) {
  const std::int64_t dim = problem.rope.head_dim, half = problem.rope.rotary_dim() / 2;
  const bool interleaved = problem.attention->pairing == "interleaved";
  const Places at = places_of(*problem.attention, problem.positions.count());
  const std::int64_t seq = from == "q" ? at.queries : at.keys, first_row = from == "q" ? at.first : 0;
  const std::vector<double>& x = values.at(from);
  std::vector<Real> exact;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    const std::int64_t channel = i % dim, row = first_row + i / dim / heads % seq;
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
  Described of = described(problem, values);
  of.attention.allowed = of.seen;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto exact = attention_truth(of.attention, part("rotated_q", b), part("rotated_k", b), part("v", b));
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
     "dtype": ["float32", "bfloat16"]},
    {"name": "cache", "rope": {"head_dim": 6, "max_position": 7},
     "attention": {"heads": 2, "kv_heads": 1, "batch": 2, "q_len": 2, "offset": [1, 5],
                   "causal": ["none", "top_left", "bottom_right", "offset"], "window": [0, 2], "alibi": [false, true]},
     "dtype": ["float32", "float16"]},
    {"name": "masks", "rope": {"head_dim": 4, "max_position": 6},
     "attention": {"heads": 2, "kv_heads": 2, "mask": ["none", "additive", "boolean"], "padding": [0, 2],
                   "causal": ["none", "top_left"], "sinks": [false, true], "scale": [0, 0.3], "softcap": [0, 2],
                   "fully_masked": ["zero", "mean"]},
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
  EXPECT_EQ(cells.size(), 608U);
  EXPECT_GT(totals.proof.fast, 10000);
  EXPECT_GT(totals.proof.fallback, 100);
  EXPECT_GT(totals.proof.midpoints, 100);
  EXPECT_EQ(totals.proof.undecided, 0);
}

// A row that sees no key and has no sink, where the case says NaN; and the table is the golden table's, scaled or not.
TEST(GoldenAttention, RowsWithoutKeysAreNaNWhereTheCaseSaysSo) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 4, "max_position": 3}, "dtype": "float32",
    "attention": {"heads": 1, "kv_heads": 1, "padding": 1, "causal": "top_left", "fully_masked": "nan"}}])");
  const auto entry = read_manifest(folder.path() / "out").entries.front();
  const auto tensors = read_safetensors(folder.path() / "out" / entry.file);
  const auto output = to_doubles(tensors.at("output")), weights = to_doubles(tensors.at("probabilities"));
  for (std::size_t c = 0; c < output.size(); ++c) EXPECT_EQ(std::isnan(output[c]), c < 4) << c;
  for (std::size_t j = 0; j < weights.size(); ++j) EXPECT_EQ(std::isnan(weights[j]), j < 3) << j;
  EXPECT_EQ(wrong_in(folder.path() / "out"), std::vector<std::string>{});
}

TEST(GoldenAttention, HasTheGoldenTableScaledToo) {
  const Folder folder;
  const std::string rope = R"("rope": {"head_dim": 8, "base": 10000, "scaling": "yarn", "factor": 4,
                              "original_max_position_embeddings": 64, "positions": [0, 1, 100, 131071]},
                              "dtype": "bfloat16")";
  write_cases(folder, "[{\"name\": \"a\", \"attention\": {\"heads\": 1, \"kv_heads\": 1}, " + rope +
                          "}, {\"name\": \"b\", " + rope + "}]");
  const auto entries = read_manifest(folder.path() / "out").entries;
  const auto attention = read_safetensors(folder.path() / "out" / entries[0].file),
             table = read_safetensors(folder.path() / "out" / entries[1].file);
  EXPECT_TRUE(same_bits(attention.at("cos"), table.at("cos")));
  EXPECT_TRUE(same_bits(attention.at("sin"), table.at("sin")));
  EXPECT_EQ(wrong_in(folder.path() / "out"), std::vector<std::string>{});
}

}  // namespace
}  // namespace ropewalk::test
