#include "reference/attention_tiers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/attention_bounds.hpp"
#include "reference/attention_rows.hpp"
#include "reference/attention_slices.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Column-major [values][rows] to row-major, eight columns at a time: all at once, they would evict each other from the
// first-level cache.
void transpose(const std::vector<double>& from, int rows, int values, std::vector<double>& to) {
  const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(values);
  to.resize(height * width);
  for (std::size_t c = 0; c < width; c += 8) {
    const std::size_t end = std::min(width, c + 8);
    for (std::size_t i = 0; i < height; ++i) {
      for (std::size_t at = c; at < end; ++at) to[i * width + at] = from[at * height + i];
    }
  }
}

struct Row {
  KeyRange keys;
  std::int64_t seen = 0, a_key = -1;
  double bias = 0;  // what of the biases can matter for the bound
  DoubleDouble sink = {-kInfinity, 0};
  bool finite = true;
};

// One call's state: a key-value head's matrices, and room that all blocks use again.
class Tiers {
 public:
  Tiers(const AttentionKernels& kernels, const Attention& attention, const AttentionInputs& inputs, Accuracy accuracy,
        Enclosures& output, const RowVisitor& hopeless)
      : kernel_(accuracy == Accuracy::comparison ? kernels.tier1 : kernels.tier2),
        a_(attention),
        in_(inputs),
        second_(accuracy == Accuracy::rounding),
        out_(output),
        hopeless_(hopeless),
        scale_(scale_of(attention)) {
    const double cap = a_.softcap;
    inverse_cap_.high = cap == 0 ? 0 : 1 / cap;
    inverse_cap_.low = cap == 0 ? 0 : std::fma(-inverse_cap_.high, cap, 1) / cap;
  }

  AttentionProof run(std::span<const HeadRows> rows) {
    const int group = a_.heads / a_.kv_heads;
    for (int kv_head = 0; kv_head < a_.kv_heads; ++kv_head) {
      bool prepared = false;
      for (const HeadRows& r : rows) {
        if (r.head / group != kv_head) continue;
        if (!prepared) prepare(kv_head);
        prepared = true;
        LargestValues largest(a_.values());
        for (std::int64_t first = r.first; first < r.last; first += kBlockRows)
          block(r.head, first, static_cast<int>(std::min<std::int64_t>(kBlockRows, r.last - first)), largest);
      }
    }
    return proof_;
  }

 private:
  void prepare(int kv_head) {
    const auto heads = static_cast<std::size_t>(a_.kv_heads), head = static_cast<std::size_t>(kv_head);
    const auto dim = static_cast<std::size_t>(a_.head_dim), values = static_cast<std::size_t>(a_.values());
    const int keys = static_cast<int>(a_.kv_len);
    RowSizes sizes;
    slice_rows(in_.k, head * dim, heads * dim, keys, a_.head_dim, second_ ? slice_bits(a_.head_dim) : 0, k_, sizes);
    key_sizes_ = running(sizes);
    slice_columns(in_.v, head * values, heads * values, keys, a_.values(), second_ ? kValueBits : 0, v_,
                  v_low_largest_);
  }

  Row look_at(int head, std::int64_t query, int i, int rows, const std::vector<KeyRange>& ranges, KeyRange all) {
    Row row;
    row.keys = ranges[static_cast<std::size_t>(i)];
    const double sink = a_.sinks.empty() ? -kInfinity : a_.sinks[static_cast<std::size_t>(head)];
    if (has_bias(a_)) {
      const std::size_t at = static_cast<std::size_t>((row.keys.first - all.first) * rows + i);
      const RowBias bias =
          bias_of(a_, head, query, row.keys, bias_.data() + at, bias_low_.data() + at, static_cast<std::int64_t>(rows));
      row.seen = bias.seen;
      row.a_key = bias.a_key;
      row.sink = bias.sink;
      row.bias = bias.largest;
      slope_part_[static_cast<std::size_t>(i)] = bias.slope_part;
    } else {
      row.seen = row.keys.last - row.keys.first;
      row.a_key = row.keys.first;
      row.sink = {sink, 0};
      slope_part_[static_cast<std::size_t>(i)] = 0;
    }
    if (row.sink.high != -kInfinity) row.bias = std::max(row.bias, std::fabs(row.sink.high));
    row.finite = q_.finite[static_cast<std::size_t>(i)] != 0;
    for (std::int64_t j = row.keys.first; j < row.keys.last && !(k_.all_finite && v_.all_finite); ++j) {
      const auto key = static_cast<std::size_t>(j);
      if (k_.finite[key] != 0 && v_.finite[key] != 0) continue;
      if (!hidden(a_, head, query, j)) row.finite = false;
    }
    if (row.seen == 0) row.finite = true;
    return row;
  }

  void block(int head, std::int64_t first, int rows, LargestValues& largest) {
    std::vector<KeyRange> ranges;
    KeyRange all = {a_.kv_len, 0};
    for (int i = 0; i < rows; ++i) {
      const KeyRange r = keys_of(a_, first + i);
      ranges.push_back(r);
      if (r.first >= r.last) continue;
      all.first = std::min(all.first, r.first);
      all.last = std::max(all.last, r.last);
    }
    all.first = std::min(all.first, all.last);
    const auto dim = static_cast<std::size_t>(a_.head_dim), heads = static_cast<std::size_t>(a_.heads);
    slice_rows(in_.q, (static_cast<std::size_t>(first) * heads + static_cast<std::size_t>(head)) * dim, heads * dim,
               rows, a_.head_dim, second_ ? slice_bits(a_.head_dim) : 0, q_, q_sizes_);
    const int keys = static_cast<int>(all.last - all.first);
    make_room(rows, keys);
    std::vector<Row> row;
    for (int i = 0; i < rows; ++i) {
      row.push_back(look_at(head, first + i, i, rows, ranges, all));
      const auto at = static_cast<std::size_t>(i);
      first_[at] = static_cast<double>(row.back().keys.first - all.first);
      last_[at] = static_cast<double>(row.back().keys.last - all.first);
      sink_[at] = row.back().sink.high;
      sink_low_[at] = row.back().sink.low;
    }
    if (keys > 0) call_kernel(rows, keys, static_cast<int>(all.first));
    transpose(head_, rows, a_.values(), head_rows_);
    if (second_) transpose(tail_, rows, a_.values(), tail_rows_);
    for (int i = 0; i < rows; ++i) finish(head, first + i, i, row[static_cast<std::size_t>(i)], largest);
  }

  void make_room(int rows, int keys) {
    const auto n = static_cast<std::size_t>(rows) * static_cast<std::size_t>(keys);
    const auto grow = [](std::vector<double>& v, std::size_t size) {
      if (v.size() < size) v.resize(size);
    };
    grow(weights_, n);
    if (second_) grow(weights_low_, n);
    if (has_bias(a_)) {
      grow(bias_low_, n);
      bias_.assign(n, -kInfinity);
    }
    for (auto* v : {&head_, &tail_, &part_}) grow(*v, static_cast<std::size_t>(kBlockRows * a_.values()));
    for (auto* v : {&first_, &last_, &sink_, &sink_low_, &sum_, &rest_, &slope_part_}) v->resize(kBlockRows);
  }

  void call_kernel(int rows, int keys, int first_key) {
    AttentionBlock b{};
    b.rows = rows;
    b.keys = keys;
    b.dim = a_.head_dim;
    b.values = a_.values();
    const std::size_t k_at = static_cast<std::size_t>(first_key) * static_cast<std::size_t>(b.dim);
    const std::size_t v_at = static_cast<std::size_t>(first_key) * static_cast<std::size_t>(b.values);
    b.q = q_.value.data();
    b.k = k_.value.data() + k_at;
    b.v = v_.value.data() + v_at;
    if (second_) {
      b.q_high = q_.high.data();
      b.k_high = k_.high.data() + k_at;
      b.v_high = v_.high.data() + v_at;
      b.q_low = q_.low_from(0);
      b.k_low = k_.low_from(first_key);
      b.v_low = v_.low_from(first_key);
    }
    b.first = first_.data();
    b.last = last_.data();
    b.bias = has_bias(a_) ? bias_.data() : nullptr;
    b.bias_low = bias_low_.data();
    b.scale = scale_;
    b.softcap = a_.softcap;
    b.inverse_softcap = inverse_cap_;
    b.sink = sink_.data();
    b.sink_low = sink_low_.data();
    b.weights = weights_.data();
    b.weights_low = weights_low_.data();
    b.part = part_.data();
    b.head = head_.data();
    b.tail = tail_.data();
    b.sum = sum_.data();
    b.rest = rest_.data();
    b.table = &exponential_table();
    kernel_(b);
  }

  double relative_error(int i, const Row& row) const {
    const auto at = static_cast<std::size_t>(i), before = static_cast<std::size_t>(row.keys.last);
    RowTerms r;
    r.scale = std::fabs(scale_.high) * (1 + 1e-9);
    r.softcap = a_.softcap;
    r.head_dim = a_.head_dim;
    r.keys = static_cast<double>(row.keys.last - row.keys.first);
    r.q = q_sizes_.norm[at];
    r.k = key_sizes_.norm[before];
    r.q_error = q_sizes_.error_norm[at];
    r.k_error = key_sizes_.error_norm[before];
    r.bias = row.bias;
    r.slope = slope_part_[at];
    if (!second_) {
      r.exact_products = r.q * r.k * 1.0001 <= 0x1p53 * q_sizes_.lowest_bit[at] * key_sizes_.lowest_bit[before];
      return tier1_error(r);
    }
    r.cross = q_sizes_.high_norm[at] * key_sizes_.low_norm[before] + q_sizes_.low_norm[at] * r.k;
    r.rest = rest_[at] / sum_[at];
    return tier2_error(r);
  }

  void finish(int head, std::int64_t query, int i, const Row& row, LargestValues& largest) {
    const auto values = static_cast<std::size_t>(a_.values());
    const std::size_t to =
        (static_cast<std::size_t>(query) * static_cast<std::size_t>(a_.heads) + static_cast<std::size_t>(head)) *
        values;
    const auto store = [&](std::size_t c, double value, double tail, double bound) {
      out_.head[to + c] = value;
      out_.tail[to + c] = tail;
      out_.bound[to + c] = bound;
    };
    const bool sink = row.sink.high != -kInfinity;
    if (row.seen == 0 && !sink && a_.fully_masked == FullyMasked::mean) {
      for (std::size_t c = 0; c < values; ++c) {
        const Bounded mean = mean_of_column(v_, c);
        store(c, mean.value.high, mean.value.low, mean.bound);
      }
      proof_.tier2 += a_.values();
      return;
    }
    if (!row.finite || row.seen == 0 || (row.seen == 1 && !sink)) {
      const bool nan = !row.finite || (row.seen == 0 && !sink && a_.fully_masked == FullyMasked::nan);
      for (std::size_t c = 0; c < values; ++c)
        store(c, nan ? kNan : row.seen == 0 ? 0 : v_.value[static_cast<std::size_t>(row.a_key) * values + c], 0, 0);
      proof_.exact += a_.values();
      return;
    }
    const double error = relative_error(i, row);
    const bool useful = error < 0x1p-20;
    if (!useful && hopeless_) return hopeless_(head, query);
    const std::vector<double>& v_largest = largest.before(row.keys.last, v_);
    const double value_error = tier2_value_error(static_cast<double>(row.keys.last - row.keys.first));
    double *const head_out = &out_.head[to], *const tail_out = &out_.tail[to], *const bound_out = &out_.bound[to];
    if (!useful) {  // a mean of v with some weights
      for (std::size_t c = 0; c < values; ++c) store(c, 0, 0, 1.0001 * v_largest[c]);
    }
    const double* const head_row = &head_rows_[static_cast<std::size_t>(i) * values];
    const double* const tail_row = second_ ? &tail_rows_[static_cast<std::size_t>(i) * values] : nullptr;
    for (std::size_t c = 0; c < values && useful; ++c) {
      head_out[c] = head_row[c];
      tail_out[c] = second_ ? tail_row[c] : 0;
      const double v = v_largest[c], low = second_ ? v_low_largest_[c] : 0;
      bound_out[c] = v == 0 ? 0 : (error + 1e-290) * v + value_error * low + 1e-300;
    }
    (second_ ? proof_.tier2 : proof_.tier1) += a_.values();
  }

  AttentionKernel kernel_;
  const Attention& a_;
  const AttentionInputs& in_;
  bool second_;
  Enclosures& out_;
  const RowVisitor& hopeless_;
  DoubleDouble scale_, inverse_cap_{};
  AttentionProof proof_;
  Sliced q_, k_, v_;
  RowSizes q_sizes_, key_sizes_;
  std::vector<double> v_low_largest_;
  std::vector<double> weights_, weights_low_, bias_, bias_low_, head_, tail_, part_, head_rows_, tail_rows_;
  std::vector<double> first_, last_, sink_, sink_low_, sum_, rest_, slope_part_;
};

}  // namespace

AttentionProof attention_by(const AttentionKernels& kernels, const Attention& attention, const AttentionInputs& inputs,
                            Accuracy accuracy, std::span<const HeadRows> rows, Enclosures& output,
                            const RowVisitor& hopeless) {
  std::vector<HeadRows> all;
  if (rows.empty()) {
    for (int head = 0; head < attention.heads; ++head) all.push_back({head, 0, attention.q_len});
    rows = all;
  }
  return Tiers(kernels, attention, inputs, accuracy, output, hopeless).run(rows);
}

}  // namespace ropewalk::reference
