#include "harness/cases/inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Ten rounds on a counter: two 32-bit products each, their halves mixed with the key, which grows by odd constants.
Block philox(Block counter, std::uint64_t key) {
  auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0], b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ low, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ high, static_cast<std::uint32_t>(a)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return counter;
}

Block words(std::uint64_t key, std::uint64_t block) {
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}, key);
}

double unit(std::uint32_t word) { return static_cast<double>(word >> 8) * 0x1p-24; }

struct Stream {
  const Case& problem;
  std::map<std::string, Tensor>& out;

  template <class F>
  void add(const std::string& name, Shape shape, F value) {
    const std::uint64_t key = key_of(problem.id, name, problem.seed);
    std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(key, i);
    out[name] = from_doubles(problem.dtype, std::move(shape), values);
  }
};

void lora_inputs(const Lora& lora, Stream stream) {
  const bool ones = lora.inputs == "ones";
  const auto scaled = [ones](double by) {
    return [=](std::uint64_t key, std::size_t i) { return ones ? 1 : by * normal(key, i); };
  };
  const auto parts = static_cast<std::int64_t>(lora.part_sizes().size());
  const double by_width = 1 / std::sqrt(static_cast<double>(lora.embedding));
  stream.add("x", {lora.batch, lora.seq, lora.embedding}, scaled(1));
  stream.add("weight", {lora.out_size(), lora.embedding}, scaled(by_width));
  if (lora.bias) stream.add("bias", {lora.out_size()}, scaled(1));
  stream.add("lora_a", {lora.r * parts, lora.embedding}, scaled(by_width));
  stream.add("lora_b", {lora.enabled_size(), lora.r}, scaled(0.25));
  stream.add("grad_output", {lora.batch, lora.seq, lora.out_size()}, scaled(1));
}

void attention_inputs(const Case& problem, Stream stream) {
  const Attention& a = *problem.attention;
  const std::int64_t seq = problem.positions.count(), dim = problem.rope.head_dim;
  const Shape of_k{a.batch, seq, a.kv_heads, dim};
  const auto columns = static_cast<std::uint64_t>(dim), row = static_cast<std::uint64_t>(a.kv_heads * dim);
  const auto queries = static_cast<std::uint64_t>(a.queries(seq));
  const Shape of_q{a.batch, a.queries(seq), a.heads, dim};
  // For "same_rows" every entry of the batch holds the first one's numbers.
  const auto plain = [&](std::size_t each_batch) {
    return [each_batch, same = a.inputs == "same_rows"](std::uint64_t key, std::size_t i) {
      return normal(key, same ? i % each_batch : i);
    };
  };
  const auto plain_q = plain(static_cast<std::size_t>(queries * static_cast<std::uint64_t>(a.heads) * columns)),
             plain_k = plain(static_cast<std::size_t>(seq) * row);
  const auto spread = [](std::uint64_t key, std::size_t i) {  // magnitudes from 2^-12 to 2^4, either sign
    const double octave = 16 * uniform(key, 2 * i), whole = std::floor(octave);
    const double size = std::ldexp(1 + (octave - whole), static_cast<int>(whole) - 12);  // exact, as no exp2 has to be
    return uniform(key, 2 * i + 1) < 0.5 ? size : -size;
  };
  const auto queries_of = [&](std::uint64_t key, std::size_t i) {
    if (a.inputs == "zero_queries" || a.inputs == "visible") return 0.0;
    if (a.inputs == "all_64") return 64.0;
    if (a.inputs == "opposed") return 300.0;
    if (a.inputs == "unit") return i % columns == (i / columns) % columns ? 1.0 : 0.0;
    if (a.inputs == "log_uniform") return spread(key, i);
    return (a.inputs == "peaked" ? 12 : 1) * plain_q(key, i);
  };
  const auto keys_of = [&](std::uint64_t key, std::size_t i) {
    if (a.inputs == "equal_keys") return normal(key, i % row);
    if (a.inputs == "unit") return i % columns == (i / columns) % columns ? 1.0 : 0.0;
    if (a.inputs == "all_64") return 64.0;
    if (a.inputs == "opposed") return -300.0;
    return a.inputs == "log_uniform" ? spread(key, i) : plain_k(key, i);
  };
  const auto values_of = [&](std::uint64_t key, std::size_t i) {  // "visible": key j's is 1 in channel j alone
    if (a.inputs == "visible") return i / row % static_cast<std::uint64_t>(seq) == i % columns ? 1.0 : 0.0;
    return plain_k(key, i);
  };
  stream.add("q", of_q, queries_of);
  stream.add("k", of_k, keys_of);
  stream.add("v", of_k, values_of);
  const auto any = [](std::uint64_t key, std::size_t i) { return normal(key, i); };
  stream.add("grad_rotated_q", of_q, any);
  stream.add("grad_rotated_k", {a.batch, seq, a.heads, dim}, any);
  stream.add("grad_output", of_q, any);
  const auto hidden = [&](std::uint64_t draws, std::size_t i) {
    const auto key = static_cast<std::int64_t>(i) % seq, own = static_cast<std::int64_t>(i) / seq + a.shift(seq);
    return (a.causal != "none" && key > own) || (a.window > 0 && key <= own - a.window) || key < a.padding ||
           (a.mask == "boolean" && uniform(draws, i) < 0.5);
  };
  stream.add("mask", {a.queries(seq), seq}, [&](std::uint64_t key, std::size_t i) {  // added to the scores
    if (hidden(key, i))
      return a.fully_masked == "mean" ? least(problem.dtype) : -std::numeric_limits<double>::infinity();
    return a.mask == "additive" ? normal(key, i) : 0.0;
  });
  const std::vector<double> mask = to_doubles(stream.out.at("mask"));
  Tensor allowed(DType::boolean, stream.out.at("mask").shape());
  std::transform(mask.begin(), mask.end(), allowed.as<bool>().begin(), [](double m) { return m > -1000; });
  stream.out["allowed"] = allowed;
  if (a.alibi)  // for 8 heads the slopes of Press, Smith and Lewis 2022
    stream.add("alibi", {a.heads},
               [](std::uint64_t, std::size_t h) { return std::ldexp(1, -static_cast<int>(h) - 1); });
  if (a.sinks) stream.add("sinks", {a.heads}, any);
}

}  // namespace

double least(DType dtype) {
  if (dtype == DType::float64) return std::numeric_limits<double>::lowest();
  if (dtype == DType::float32) return std::numeric_limits<float>::lowest();
  return dtype == DType::float16 ? -65504 : -0x1.fep127;
}

Tensor positions_tensor(const Positions& positions, std::int64_t axes) {
  Tensor out(DType::int64, axes == 1 ? Shape{positions.count()} : Shape{axes, positions.count()});
  auto to = out.as<std::int64_t>().begin();
  for (std::int64_t axis = 0; axis < axes; ++axis)
    for (std::int64_t row = 0; row < positions.count(); ++row) *to++ = positions.at(row, axis);
  return out;
}

std::uint64_t key_of(const std::string& id, const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a, 64 bits
  for (const std::string& text : {id, std::string(1, '\0'), name})
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash ^ (seed * 0x9E3779B97F4A7C15);
}

double uniform(std::uint64_t key, std::uint64_t element) { return unit(words(key, element / 4)[element % 4]); }

double normal(std::uint64_t key, std::uint64_t element) {
  double sum = -6;  // exact: multiples of 2^-24 below 2^4
  for (std::uint64_t block = 3 * element; block < 3 * element + 3; ++block)
    for (const std::uint32_t word : words(key, block)) sum += unit(word);
  return sum;
}

std::map<std::string, Tensor> make_inputs(const Case& problem) {
  std::map<std::string, Tensor> out;
  const Stream stream{problem, out};
  if (problem.lora) lora_inputs(*problem.lora, stream);
  if (problem.attention) attention_inputs(problem, stream);
  return out;
}

}  // namespace ropewalk
