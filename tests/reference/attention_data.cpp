#include "tests/reference/attention_data.hpp"

#include <cmath>
#include <functional>

#include "reference/rounding.hpp"
#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

// Row and channel of a number, and its draw.
using Make = std::function<double(Draws& draws, std::int64_t row, std::int64_t channel)>;

double log_uniform(Draws& draws, double binades) {
  const double sign = draws.below(2) == 0 ? 1 : -1;
  return sign * std::exp2(binades * (2 * draws.unit() - 1));
}

struct Kind {
  std::string name;
  Make q, k, v;
};

std::vector<Kind> kinds() {
  const Make normal = [](Draws& d, std::int64_t, std::int64_t) { return d.normal(); };
  const Make ones = [](Draws&, std::int64_t, std::int64_t) { return 1.0; };
  const Make zeros = [](Draws&, std::int64_t, std::int64_t) { return 0.0; };
  const auto times = [](double factor, Make make) {
    return Make([=](Draws& d, std::int64_t r, std::int64_t c) { return factor * make(d, r, c); });
  };
  const auto spread = [](double binades) {
    return Make([=](Draws& d, std::int64_t, std::int64_t) { return log_uniform(d, binades); });
  };
  const Make outliers = [](Draws& d, std::int64_t, std::int64_t c) { return c == 3 ? 300 * d.normal() : d.normal(); };
  const Make rare_rows = [](Draws& d, std::int64_t r, std::int64_t) {
    return r % 7 == 5 ? 100 * d.normal() : d.normal();
  };
  const Make same_rows = [](Draws& d, std::int64_t, std::int64_t c) {
    return static_cast<double>(d.below(1)) + 0.37 * static_cast<double>(c + 1);
  };
  const Make few_rows = [](Draws&, std::int64_t r, std::int64_t c) {
    return static_cast<double>((r % 3) * (c + 1)) / 8 - static_cast<double>(c % 4);
  };
  const Make alternating = [](Draws& d, std::int64_t r, std::int64_t) {
    return (r % 2 == 0 ? 1 : -1) * (1 + d.unit() * 0x1p-7);
  };
  const Make whole = [](Draws& d, std::int64_t, std::int64_t) { return static_cast<double>(d.below(9) - 4); };
  const Make one_hot = [](Draws&, std::int64_t r, std::int64_t c) { return r % 8 == c ? 1.0 : 0.0; };
  const Make growing = [](Draws& d, std::int64_t r, std::int64_t) {
    return std::exp2(static_cast<double>(r % 24) - 12) * d.normal();
  };
  const Make growing_channels = [](Draws& d, std::int64_t, std::int64_t c) {
    return std::exp2(2 * static_cast<double>(c % 12) - 12) * d.normal();
  };
  const Make near_one = [](Draws& d, std::int64_t, std::int64_t) { return 1 + std::round(d.normal()) * 0x1p-7; };
  const Make last_counts = [](Draws& d, std::int64_t r, std::int64_t c) {
    return r == 0 ? 0 : c == 0 ? 40.0 : d.normal();
  };
  const Make only_first = [](Draws& d, std::int64_t r, std::int64_t) { return r == 0 ? d.normal() : 0; };
  return {{"normal", normal, normal, normal},
          {"zero queries", zeros, normal, normal},
          {"zero keys", normal, zeros, normal},
          {"zero values", normal, normal, zeros},
          {"one value", normal, normal, ones},
          {"peaked", times(12, normal), times(4, normal), normal},
          {"very peaked", times(60, normal), times(30, normal), normal},
          {"underflowing weights", times(200, normal), times(40, normal), only_first},
          {"huge logits", times(3000, normal), times(3000, normal), normal},
          {"flat", times(0x1p-10, normal), normal, normal},
          {"tiny everything", times(0x1p-13, normal), times(0x1p-13, normal), times(0x1p-13, normal)},
          {"outlier channel in q and k", outliers, outliers, normal},
          {"outlier channel in v", normal, normal, outliers},
          {"outlier rows in k", normal, rare_rows, normal},
          {"outlier rows in v", normal, normal, rare_rows},
          {"equal keys", normal, same_rows, normal},
          {"equal keys, whole values", normal, same_rows, whole},
          {"three kinds of keys", normal, few_rows, whole},
          {"three kinds of keys, zero queries", zeros, few_rows, near_one},
          {"log-uniform", spread(3), spread(3), spread(3)},
          {"widely log-uniform", spread(10), spread(10), spread(12)},
          {"log-uniform values", normal, normal, spread(14)},
          {"cancelling values", normal, times(0.01, normal), alternating},
          {"cancelling products", alternating, alternating, normal},
          {"whole numbers", whole, whole, whole},
          {"one-hot", times(8, one_hot), one_hot, normal},
          {"growing keys", normal, growing, growing},
          {"growing channels", growing_channels, growing_channels, growing_channels},
          {"values near one", normal, normal, near_one},
          {"one key takes all", last_counts, last_counts, normal}};
}

double in_format(double x, Format format) {
  const double r = round_head_tail(x, 0, format);
  return std::isfinite(r) ? r : std::copysign(1.0, x);
}

AttentionData make(const Kind& kind, const Attention& a, Format format, std::uint64_t seed) {
  AttentionData data{kind.name, {}, {}, {}};
  Draws draws(seed);
  const auto fill = [&](std::vector<double>& x, const Make& one, std::int64_t rows, std::int64_t heads,
                        std::int64_t width) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < heads * width; ++i) x.push_back(in_format(one(draws, r, i % width), format));
    }
  };
  fill(data.q, kind.q, a.q_len, a.heads, a.head_dim);
  fill(data.k, kind.k, a.kv_len, a.kv_heads, a.head_dim);
  fill(data.v, kind.v, a.kv_len, a.kv_heads, a.values());
  return data;
}

}  // namespace

std::vector<AttentionData> hard_data(const Attention& a, Format format, std::uint64_t seed) {
  std::vector<AttentionData> all;
  for (const Kind& kind : kinds()) all.push_back(make(kind, a, format, seed + all.size()));
  return all;
}

AttentionData normal_data(const Attention& a, Format format, std::uint64_t seed) {
  return make(kinds().front(), a, format, seed);
}

}  // namespace ropewalk::reference
