#include "harness/golden/attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/exact_attention.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/cases/inputs.hpp"
#include "harness/golden/formulas.hpp"
#include "harness/golden/rows.hpp"
#include "reference/attention_rounding.hpp"

namespace ropewalk {
namespace {

using reference::Proof;

// Products of a query's channel with a key's: what one thread proves within minutes. In float64 many more values need
// MPFR.
constexpr std::int64_t kMostProducts = std::int64_t{1} << 30, kMostProductsFloat64 = std::int64_t{1} << 22;

std::string seen_keys(const Attention& a, std::int64_t keys) {
  std::vector<std::string> conditions;
  const std::string own = a.shift(keys) == 0 ? "i" : fmt::format("i + {}", a.shift(keys));
  if (a.causal != "none") conditions.push_back("j <= " + own);
  if (a.window > 0) conditions.push_back(fmt::format("j > {} - {}", own, a.window));
  if (a.padding > 0) conditions.push_back(fmt::format("j >= {}", a.padding));
  if (a.mask == "boolean") conditions.emplace_back("mask[i, j] is 0");
  if (conditions.empty()) return "every key is seen";
  return fmt::format("key j is seen if {}", fmt::join(conditions, " and "));
}

std::string without_keys(const Attention& a, const char* mean) {
  if (a.causal == "none" && a.window == 0 && a.padding == 0 && a.mask != "boolean") return "";
  if (a.sinks) return "";
  return fmt::format(", of a row that sees no key {}", a.fully_masked == "zero"  ? "0"
                                                       : a.fully_masked == "nan" ? "NaN"
                                                                                 : mean);
}

// z[b, h, i, j], the logit.
std::string logit(const Case& problem) {
  const Attention& a = *problem.attention;
  const std::int64_t keys = problem.positions.count();
  std::string score = fmt::format("sum over c of rotated_q[b, i, h, c] rotated_k[b, j, h div {}, c] {}",
                                  a.heads / a.kv_heads, a.scale == 0 ? "/ sqrt(head_dim)" : "* scale");
  if (a.softcap != 0) score = fmt::format("{0} tanh(({1}) / {0})", plain(a.softcap), score);
  if (a.mask == "additive") score += " + mask[i, j]";
  if (a.alibi) score += fmt::format(" + alibi[h] (j - i - {})", a.shift(keys));
  return "z[b, h, i, j] = " + score + " of this file's tensors taken as they are";
}

std::string turned(const char* from, const std::string& row, const Case& problem) {
  const std::int64_t width = problem.rope.rotary_dim();
  const bool interleaved = problem.attention->pairing == "interleaved";
  const std::string first = interleaved ? "2 m" : "m",
                    second = interleaved ? "2 m + 1" : fmt::format("m + {}", width / 2);
  return fmt::format(
      "channels {0} and {1} of {2} at row s become {2}[{0}] cos[{5}, m] - {2}[{1}] sin[{5}, m] and "
      "{2}[{1}] cos[{5}, m] + {2}[{0}] sin[{5}, m], m < {3}; channels from {4} on stay; {2} and this file's "
      "cos and sin taken as they are",
      first, second, from, width / 2, width, row);
}

// In the order of the file.
std::vector<GoldenTensor> tensors_of(const Case& problem) {
  const Attention& a = *problem.attention;
  const AttentionSizes n = sizes_of(problem);
  const std::int64_t pairs = problem.rope.rotary_dim() / 2;
  const Shape of_q{n.batch, n.queries, n.heads, n.dim}, of_k{n.batch, n.keys, a.kv_heads, n.dim},
      of_scores{n.batch, n.heads, n.queries, n.keys};
  const std::string rounded =
      fmt::format("; a real number rounded once to {}, to nearest, ties to even", name_of(problem.dtype));
  const std::string input =
      "an input, from Philox4x32-10 keyed by the case's id, this name and the seed; taken as it is";
  const std::string amplitude = amplitude_formula(problem.rope),
                    angle = "(positions[s] * " + frequency_formula(problem.rope, "m") + ")";
  const std::string z = logit(problem), seen = "; " + seen_keys(a, n.keys);
  const std::string sum = fmt::format("{}sum over the seen j of exp(z[b, h, i, j])", a.sinks ? "exp(sinks[h]) + " : "");
  const std::string query = a.first_query(n.keys) == 0 ? "s" : fmt::format("s + {}", a.first_query(n.keys));
  std::vector<GoldenTensor> out;
  const auto add = [&](const char* name, DType dtype, Shape shape, std::string formula) {
    out.push_back({name, name, dtype, std::move(shape), std::move(formula), {name}});
  };
  add("positions", DType::int64, {n.keys}, "the position of row s");
  add("q", problem.dtype, of_q, input);
  add("k", problem.dtype, of_k, input);
  add("v", problem.dtype, of_k, input);
  if (a.mask != "none")
    add("mask", problem.dtype, {n.queries, n.keys},
        fmt::format("{} where key j is seen, else {}", a.mask == "boolean" ? "0" : input,
                    a.fully_masked == "mean" ? "the least finite number" : "-infinity"));
  if (a.alibi) add("alibi", problem.dtype, {n.heads}, "2^-(h + 1); taken as it is");
  if (a.sinks) add("sinks", problem.dtype, {n.heads}, input);
  add("cos", problem.dtype, {n.keys, pairs}, amplitude + "cos" + angle + rounded);
  add("sin", problem.dtype, {n.keys, pairs}, amplitude + "sin" + angle + rounded);
  out[out.size() - 2].proved_by = out.back().proved_by = {"cos", "sin"};
  add("rotated_q", problem.dtype, of_q, turned("q", query, problem) + rounded);
  add("rotated_k", problem.dtype, of_k, turned("k", "s", problem) + rounded);
  add("scores", problem.dtype, of_scores, z + seen + ", other scores are -infinity" + rounded);
  add("probabilities", problem.dtype, of_scores,
      fmt::format("exp(z[b, h, i, j]) / ({}), {} (z not rounded){}, other probabilities are 0{}{}", sum, z, seen,
                  without_keys(a, "1 / the number of keys"), rounded));
  add("output", problem.dtype, of_q,
      fmt::format("sum over the seen j of exp(z[b, h, i, j]) v[b, j, h div {}, c], divided by ({}), {} (neither z nor "
                  "probabilities rounded){}{}{}",
                  a.heads / a.kv_heads, sum, z, seen, without_keys(a, "the mean of v over all keys"), rounded));
  return out;
}

class Maker {
 public:
  Maker(const Case& problem, const Sink& sink) : problem_(problem), sink_(sink), format_(format_of(problem.dtype)) {
    for (const GoldenTensor& tensor : tensors_of(problem)) index_.emplace(tensor.name, index_.size());
    proofs_.resize(index_.size());
  }

  std::vector<Proof> operator()() {
    give("positions", positions_tensor(problem_.positions));
    const auto inputs = make_inputs(problem_);
    for (const char* name : {"q", "k", "v", "mask", "alibi", "sinks"})
      if (index_.contains(name)) give(name, inputs.at(name));
    make_table();
    const AttentionSizes n = sizes_of(problem_);
    const std::size_t pairs = cos_.size() / static_cast<std::size_t>(n.keys);
    const auto first = static_cast<std::size_t>(problem_.attention->first_query(n.keys)) * pairs,
               of_queries = static_cast<std::size_t>(n.queries) * pairs;
    const std::vector<double> q =
        rotated("rotated_q", to_doubles(inputs.at("q")), std::span(cos_).subspan(first, of_queries),
                std::span(sin_).subspan(first, of_queries));
    const std::vector<double> k = rotated("rotated_k", to_doubles(inputs.at("k")), cos_, sin_);
    const ScoreInputs given = score_inputs(inputs);
    const ExactAttention attention(problem_, given, problem_.attention->kv_heads);
    const auto batches = static_cast<std::size_t>(n.batch);
    const auto part = [&](const std::vector<double>& all, std::size_t batch) {
      const std::size_t each = all.size() / batches;
      return std::span(all).subspan(batch * each, each);
    };
    const auto stage = [&](const char* name, std::size_t size, const auto& round) {
      std::vector<double> out(size);
      for (std::size_t b = 0; b < batches; ++b) {
        proofs_[index_.at(name)] +=
            round(attention.described(), {part(q, b), part(k, b), part(given.v, b)}, format_, out);
        send(name, out);
      }
    };
    stage("scores", n.of_scores(), reference::attention_scores_rounded);
    stage("probabilities", n.of_scores(), reference::attention_probabilities_rounded);
    stage("output", n.of_q(), reference::attention_output_rounded);
    return std::move(proofs_);
  }

 private:
  void send(const char* name, std::span<const double> values) {
    sink_(index_.at(name), from_doubles(problem_.dtype, {static_cast<std::int64_t>(values.size())}, values).bytes());
  }
  void give(const char* name, const Tensor& tensor) {
    sink_(index_.at(name), tensor.bytes());
    proofs_[index_.at(name)].exact = tensor.size();
  }

  void make_table() {
    const reference::Table table = table_of(problem_.rope);
    reference::SinCos exact;
    Proof proof = table.sparse(problem_.positions.all(), exact);
    cos_.resize(exact.cos.size());
    sin_.resize(exact.sin.size());
    round_to(format_, exact.cos, exact.cos_tail, cos_, proof);
    round_to(format_, exact.sin, exact.sin_tail, sin_, proof);
    send("cos", cos_);
    send("sin", sin_);
    proofs_[index_.at("cos")] = proofs_[index_.at("sin")] = proof;
  }

  std::vector<double> rotated(const char* name, const std::vector<double>& from, std::span<const double> cos,
                              std::span<const double> sin) {
    std::vector<double> out(from.size());
    const std::size_t batches = static_cast<std::size_t>(problem_.attention->batch), each = from.size() / batches;
    for (std::size_t b = 0; b < batches; ++b)
      proofs_[index_.at(name)] +=
          reference::rotate_rounded(exact_rotation(problem_), format_, std::span(from).subspan(b * each, each), cos,
                                    sin, std::span(out).subspan(b * each, each));
    send(name, out);
    return out;
  }

  const Case& problem_;
  const Sink& sink_;
  reference::Format format_;
  std::map<std::string, std::size_t> index_;  // of each tensor in the file
  std::vector<double> cos_, sin_;
  std::vector<Proof> proofs_;
};

}  // namespace

GoldenFile golden_attention(const Case& problem) {
  const AttentionSizes n = sizes_of(problem);
  const std::int64_t most = problem.dtype == DType::float64 ? kMostProductsFloat64 : kMostProducts;
  const double products = static_cast<double>(n.batch) * static_cast<double>(n.of_q()) * static_cast<double>(n.keys);
  if (products > static_cast<double>(most))
    throw BadInput(problem.file, problem.id, plain(products),
                   fmt::format("batch x heads x queries x keys x head_dim of golden attention in {} is at most {}",
                               name_of(problem.dtype), most));
  GoldenFile file;
  file.kind = "attention";
  file.parameters = {{"rope",
                      {{"head_dim", problem.rope.head_dim},
                       {"base", plain_json(problem.rope.base)},
                       {"partial_rotary_factor", plain_json(problem.rope.partial_rotary_factor)},
                       {"positions", to_json(rows_of(problem.positions))}}},
                     {"attention", attention_block(*problem.attention, n.keys)},
                     {"seed", problem.seed},
                     {"dtype", name_of(problem.dtype)}};
  file.parameters["rope"].update(scaling_fields_of(problem.rope));
  file.tensors = tensors_of(problem);
  file.make = [problem](const Sink& sink) { return Maker(problem, sink)(); };
  return file;
}

}  // namespace ropewalk
