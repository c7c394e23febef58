#include "harness/golden/attention.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/cases/exact_attention.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/cases/inputs.hpp"
#include "harness/golden/rows.hpp"
#include "reference/attention_rounding.hpp"

namespace ropewalk {
namespace {

using reference::Proof;

// Products of a query's channel with a key's: what one thread proves within minutes. In float64 many more values need
// MPFR.
constexpr std::int64_t kMostProducts = std::int64_t{1} << 30, kMostProductsFloat64 = std::int64_t{1} << 22;

// In the order of the file's list of tensors.
enum Tensors : std::size_t {
  kPositions,
  kQ,
  kK,
  kV,
  kCos,
  kSin,
  kRotatedQ,
  kRotatedK,
  kScores,
  kProbabilities,
  kOutput,
  kCount
};

std::string seen_keys(const Attention& a) {
  std::string text = a.causal == "none" ? "every key is seen" : "key j is seen if j <= i";
  if (a.window > 0) text += fmt::format("{} j > i - {}", a.causal == "none" ? ", if" : " and", a.window);
  return text;
}

std::string turned(const char* from, const Case& problem) {
  const std::int64_t width = problem.rope.rotary_dim();
  const bool interleaved = problem.attention->pairing == "interleaved";
  const std::string first = interleaved ? "2 m" : "m",
                    second = interleaved ? "2 m + 1" : fmt::format("m + {}", width / 2);
  return fmt::format(
      "channels {0} and {1} of {2} at row s become {2}[{0}] cos[s, m] - {2}[{1}] sin[s, m] and "
      "{2}[{1}] cos[s, m] + {2}[{0}] sin[s, m], m < {3}; channels from {4} on stay; {2} and this file's "
      "cos and sin taken as they are",
      first, second, from, width / 2, width);
}

std::vector<GoldenTensor> tensors_of(const Case& problem) {
  const Attention& a = *problem.attention;
  const std::int64_t seq = problem.positions.count(), dim = problem.rope.head_dim,
                     pairs = problem.rope.rotary_dim() / 2;
  const Shape of_q{a.batch, seq, a.heads, dim}, of_k{a.batch, seq, a.kv_heads, dim},
      of_scores{a.batch, a.heads, seq, seq};
  const std::string rounded =
      fmt::format("; a real number rounded once to {}, to nearest, ties to even", name_of(problem.dtype));
  const std::string input =
      "an input, from Philox4x32-10 keyed by the case's id, this name and the seed; taken as it is";
  const std::string angle = "(positions[s] * base^(-2 m / rotary_dim))";
  std::string score = fmt::format("sum over c of rotated_q[b, i, h, c] rotated_k[b, j, h div {}, c] / sqrt(head_dim)",
                                  a.heads / a.kv_heads);
  if (a.softcap != 0) score = fmt::format("{0} tanh(({1}) / {0})", plain(a.softcap), score);
  const std::string logit = "z[b, h, i, j] = " + score + " of this file's rotated_q and rotated_k taken as they are",
                    seen = "; " + seen_keys(a);
  std::vector<GoldenTensor> out(kCount);
  const auto set = [&](Tensors which, const char* name, DType dtype, Shape shape, std::string formula) {
    out[which] = {name, name, dtype, std::move(shape), std::move(formula), {name}};
  };
  set(kPositions, "positions", DType::int64, {seq}, "the position of row s");
  set(kQ, "q", problem.dtype, of_q, input);
  set(kK, "k", problem.dtype, of_k, input);
  set(kV, "v", problem.dtype, of_k, input);
  set(kCos, "cos", problem.dtype, {seq, pairs}, "cos" + angle + rounded);
  set(kSin, "sin", problem.dtype, {seq, pairs}, "sin" + angle + rounded);
  out[kCos].proved_by = out[kSin].proved_by = {"cos", "sin"};
  set(kRotatedQ, "rotated_q", problem.dtype, of_q, turned("q", problem) + rounded);
  set(kRotatedK, "rotated_k", problem.dtype, of_k, turned("k", problem) + rounded);
  set(kScores, "scores", problem.dtype, of_scores, logit + seen + ", other scores are -infinity" + rounded);
  set(kProbabilities, "probabilities", problem.dtype, of_scores,
      "exp(z[b, h, i, j]) / sum over the seen j of exp(z[b, h, i, j]), " + logit + " (z not rounded)" + seen +
          ", other probabilities are 0" + rounded);
  set(kOutput, "output", problem.dtype, of_q,
      fmt::format(
          "sum over the seen j of exp(z[b, h, i, j]) v[b, j, h div {}, c], divided by the sum of exp(z[b, h, i, "
          "j]), ",
          a.heads / a.kv_heads) +
          logit + " (neither z nor probabilities rounded)" + seen + rounded);
  return out;
}

class Maker {
 public:
  Maker(const Case& problem, const Sink& sink) : problem_(problem), sink_(sink), format_(format_of(problem.dtype)) {}

  std::vector<Proof> operator()() {
    give(kPositions, positions_tensor(problem_.positions));
    const auto inputs = make_inputs(problem_);
    give(kQ, inputs.at("q"));
    give(kK, inputs.at("k"));
    give(kV, inputs.at("v"));
    const std::vector<double> v = to_doubles(inputs.at("v"));
    make_table();
    const std::vector<double> q = rotated(kRotatedQ, to_doubles(inputs.at("q")));
    const std::vector<double> k = rotated(kRotatedK, to_doubles(inputs.at("k")));
    const reference::Attention attention = exact_attention(problem_);
    const auto batches = static_cast<std::size_t>(problem_.attention->batch);
    const auto part = [&](const std::vector<double>& all, std::size_t batch) {
      const std::size_t each = all.size() / batches;
      return std::span(all).subspan(batch * each, each);
    };
    const auto stage = [&](Tensors which, std::size_t size, const auto& round) {
      std::vector<double> out(size);
      for (std::size_t b = 0; b < batches; ++b) {
        proofs_[which] += round(attention, {part(q, b), part(k, b), part(v, b)}, format_, out);
        send(which, out);
      }
    };
    const auto scores = static_cast<std::size_t>(attention.heads * attention.q_len * attention.kv_len);
    stage(kScores, scores, reference::attention_scores_rounded);
    stage(kProbabilities, scores, reference::attention_probabilities_rounded);
    stage(kOutput, q.size() / batches, reference::attention_output_rounded);
    return std::move(proofs_);
  }

 private:
  void send(Tensors which, std::span<const double> values) {
    sink_(which, from_doubles(problem_.dtype, {static_cast<std::int64_t>(values.size())}, values).bytes());
  }
  void give(Tensors which, const Tensor& tensor) {
    sink_(which, tensor.bytes());
    proofs_[which].exact = tensor.size();
  }

  void make_table() {
    const reference::Table table(frequencies_of(problem_.rope));
    reference::SinCos exact;
    Proof proof = table.sparse(problem_.positions.all(), exact);
    cos_.resize(exact.cos.size());
    sin_.resize(exact.sin.size());
    round_to(format_, exact.cos, exact.cos_tail, cos_, proof);
    round_to(format_, exact.sin, exact.sin_tail, sin_, proof);
    send(kCos, cos_);
    send(kSin, sin_);
    proofs_[kCos] = proofs_[kSin] = proof;
  }

  std::vector<double> rotated(Tensors which, const std::vector<double>& from) {
    std::vector<double> out(from.size());
    const std::size_t batches = static_cast<std::size_t>(problem_.attention->batch), each = from.size() / batches;
    for (std::size_t b = 0; b < batches; ++b)
      proofs_[which] +=
          reference::rotate_rounded(exact_rotation(problem_), format_, std::span(from).subspan(b * each, each), cos_,
                                    sin_, std::span(out).subspan(b * each, each));
    send(which, out);
    return out;
  }

  const Case& problem_;
  const Sink& sink_;
  reference::Format format_;
  std::vector<double> cos_, sin_;
  std::vector<Proof> proofs_{kCount};
};

// What the manifest's definitions do not speak of yet.
void refuse_what_is_not_defined(const Case& problem) {
  const Attention& a = *problem.attention;
  const Attention plain_one;
  const auto need = [&](const char* field, bool usual) {
    if (!usual) throw BadInput(problem.file, problem.id, field, "not supported in golden attention by this version");
  };
  need("scaling", problem.rope.scaling.type == reference::Scaling::Type::none);
  need("q_len", a.q_len == 0);
  need("offset", a.offset == plain_one.offset && a.causal != "offset");
  need("padding", a.padding == 0);
  need("mask", a.mask == plain_one.mask);
  need("scale", a.scale == 0);
  need("alibi", !a.alibi);
  need("sinks", !a.sinks);
}

}  // namespace

GoldenFile golden_attention(const Case& problem) {
  refuse_what_is_not_defined(problem);
  const Attention& a = *problem.attention;
  const std::int64_t seq = problem.positions.count();
  const std::int64_t most = problem.dtype == DType::float64 ? kMostProductsFloat64 : kMostProducts;
  const double products = static_cast<double>(a.batch * a.heads) * static_cast<double>(seq) * static_cast<double>(seq) *
                          static_cast<double>(problem.rope.head_dim);
  if (products > static_cast<double>(most))
    throw BadInput(problem.file, problem.id, plain(products),
                   fmt::format("batch x heads x positions^2 x head_dim of golden attention in {} is at most {}",
                               name_of(problem.dtype), most));
  GoldenFile file;
  file.kind = "attention";
  file.parameters = {{"rope",
                      {{"head_dim", problem.rope.head_dim},
                       {"base", plain_json(problem.rope.base)},
                       {"partial_rotary_factor", plain_json(problem.rope.partial_rotary_factor)},
                       {"positions", to_json(rows_of(problem.positions))}}},
                     {"attention", attention_block(a)},
                     {"seed", problem.seed},
                     {"dtype", name_of(problem.dtype)}};
  file.tensors = tensors_of(problem);
  file.make = [problem](const Sink& sink) { return Maker(problem, sink)(); };
  return file;
}

}  // namespace ropewalk
