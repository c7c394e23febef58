#include "tests/reference/attention_variants.hpp"

#include <cmath>

#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kLeastFloat = -0x1.fffffep127;  // finfo(float32).min, as Hugging Face's masks have it

Attention base(std::int64_t q_len, std::int64_t kv_len) {
  Attention a;
  a.q_len = q_len;
  a.kv_len = kv_len;
  a.heads = 4;
  a.kv_heads = 2;
  a.head_dim = 8;
  return a;
}

std::vector<double> numbers(std::size_t count, double size, std::uint64_t seed) {
  Draws draws(seed);
  std::vector<double> x(count);
  for (double& value : x) value = static_cast<float>(size * draws.normal());
  return x;
}

// Two thirds of all keys, and no key at all for query 3.
std::vector<std::uint8_t> some_allowed(std::size_t copies, const Attention& a, std::uint64_t seed) {
  Draws draws(seed);
  std::vector<std::uint8_t> allowed(copies * static_cast<std::size_t>(a.q_len * a.kv_len));
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const auto query = static_cast<std::int64_t>(i) / a.kv_len % a.q_len;
    allowed[i] = draws.below(3) != 0 && query != 3 ? 1 : 0;
  }
  return allowed;
}

std::vector<double> as_mask(const std::vector<std::uint8_t>& allowed, double hidden) {
  std::vector<double> mask;
  for (const std::uint8_t x : allowed) mask.push_back(x != 0 ? 0 : hidden);
  return mask;
}

}  // namespace

std::vector<AttentionVariant> attention_variants() {
  std::vector<AttentionVariant> all;
  const auto add = [&](const char* name, const Attention& a) -> AttentionVariant& {
    return all.emplace_back(AttentionVariant{name, a, {}, {}, {}, {}});
  };
  const Attention square = base(9, 9), wide = base(5, 12), tall = base(12, 5);
  add("no mask", square);
  for (const Causal causal : {Causal::top_left, Causal::bottom_right}) {
    for (const Attention& shape : {square, wide, tall}) {
      add("causal", shape).problem.causal = causal;
      AttentionVariant& windowed = add("sliding window", shape);
      windowed.problem.causal = causal;
      windowed.problem.window = 3;
    }
  }
  add("window without causality", square).problem.window = 4;
  AttentionVariant& cache = add("cache longer than what is filled", wide);
  cache.problem.causal = Causal::top_left;
  cache.problem.offset = 3;
  add("window beyond the keys", tall).problem.window = 2;
  for (const FullyMasked convention : {FullyMasked::zero, FullyMasked::nan, FullyMasked::mean}) {
    AttentionVariant& v = add("boolean mask", square);
    v.problem.fully_masked = convention;
    v.allowed = some_allowed(1, v.problem, 1);
  }
  add("boolean mask for each head", wide).allowed = some_allowed(4, wide, 2);
  add("mask of -infinity", square).mask = as_mask(some_allowed(1, square, 3), -INFINITY);
  add("mask of the least float, one row all of it", square).mask = as_mask(some_allowed(1, square, 4), kLeastFloat);
  add("mask of the least double", square).mask = as_mask(some_allowed(4, square, 4), -0x1.fffffffffffffp1023);
  add("additive mask", square).mask = numbers(81, 2, 5);
  add("large additive mask", wide).mask = numbers(240, 300, 6);
  AttentionVariant& both = add("both masks, causal", square);
  both.problem.causal = Causal::top_left;
  both.mask = numbers(81, 2, 7);
  both.allowed = some_allowed(4, square, 8);
  add("softcap", square).problem.softcap = 2.5;
  add("softcap far away", square).problem.softcap = 50;
  AttentionVariant& capped = add("softcap, mask, sinks", wide);
  capped.problem.softcap = 1;
  capped.mask = as_mask(some_allowed(1, wide, 9), kLeastFloat);
  capped.sinks = {0.5, -1, 3, -INFINITY};
  add("sinks", square).sinks = {0, 1.5, -2, 40};
  add("sinks that take all or nothing", square).sinks = {1000, -1000, 1e30, -1e30};
  AttentionVariant& sunk = add("sinks where a row sees no key", square);
  sunk.sinks = {0, 1, -INFINITY, 2};
  sunk.allowed = some_allowed(1, square, 10);
  AttentionVariant& alibi = add("ALiBi", wide);
  alibi.problem.causal = Causal::bottom_right;
  alibi.alibi = {0.25, 0.0625, 0.015625, 0.7071067690849304};
  AttentionVariant& masked_alibi = add("ALiBi under masks", square);
  masked_alibi.alibi = {8, 0.1, 1e-3, 0};
  masked_alibi.mask = as_mask(some_allowed(1, square, 11), kLeastFloat);
  masked_alibi.sinks = {0, 1, 2, 3};
  for (const double scale : {0.125, 1.0, 0.11, -0.5, 0.0}) {
    AttentionVariant& v = add("scale", square);
    v.problem.scale = scale;
    v.problem.over_root = false;
  }
  add("squared mscale over the root", square).problem.scale = 1.3688879454113936 * 1.3688879454113936;
  AttentionVariant& multi_query = add("one key-value head", square);
  multi_query.problem.kv_heads = 1;
  add("a head for each", square).problem.kv_heads = 4;
  AttentionVariant& narrow = add("values of another width", square);
  narrow.problem.value_dim = 3;
  narrow.problem.causal = Causal::top_left;
  add("one query", base(1, 17)).problem.causal = Causal::bottom_right;
  return all;
}

}  // namespace ropewalk::reference
