#include "reference/attention.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reference/attention_exact_row.hpp"
#include "reference/attention_rows.hpp"
#include "reference/attention_tiers.hpp"
#include "reference/certify.hpp"

namespace ropewalk::reference {
namespace {

constexpr int kRowBits = 160;

std::size_t outputs_of(const Attention& a) { return static_cast<std::size_t>(a.q_len * a.heads * a.values()); }

std::size_t first_output(const Attention& a, int head, std::int64_t query) {
  return static_cast<std::size_t>((query * a.heads + head) * a.values());
}

void store_exact_row(const Attention& a, const AttentionInputs& inputs, int head, std::int64_t query,
                     Enclosures& output) {
  ExactRow row(a, inputs, head, query);
  row.evaluate(kRowBits);
  Real error = real(64);
  for (int c = 0; c < a.values(); ++c) {
    const std::size_t i = first_output(a, head, query) + static_cast<std::size_t>(c);
    Real value = row.value(c, error);
    output.head[i] = mpfr_get_d(raw(value), MPFR_RNDN);
    mpfr_sub_d(raw(value), raw(value), output.head[i], MPFR_RNDN);
    output.tail[i] = mpfr_get_d(raw(value), MPFR_RNDN);
    mpfr_sub_d(raw(value), raw(value), output.tail[i], MPFR_RNDN);
    mpfr_abs(raw(value), raw(value), MPFR_RNDU);
    mpfr_add(raw(error), raw(error), raw(value), MPFR_RNDU);
    output.bound[i] = mpfr_get_d(raw(error), MPFR_RNDU);
  }
}

using Undecided = std::map<std::pair<int, std::int64_t>, std::vector<int>>;  // head, query: channels

std::vector<HeadRows> rows_of(const Undecided& undecided) {
  std::vector<HeadRows> rows;
  for (const auto& [at, channels] : undecided) {
    const auto [head, query] = at;
    if (!rows.empty() && rows.back().head == head && rows.back().last == query) {
      ++rows.back().last;
    } else {
      rows.push_back({head, query, query + 1});
    }
  }
  return rows;
}

}  // namespace

AttentionProof& AttentionProof::operator+=(const AttentionProof& other) {
  tier1 += other.tier1;
  tier2 += other.tier2;
  tier3 += other.tier3;
  exact += other.exact;
  ties += other.ties;
  undecided += other.undecided;
  return *this;
}

AttentionProof attention_output(const Attention& attention, const AttentionInputs& inputs, Accuracy accuracy,
                                Enclosures& output) {
  check(attention, inputs);
  output.resize(outputs_of(attention));
  AttentionProof proof;
  RowVisitor hopeless;
  if (inputs.q.exact() && inputs.k.exact()) {
    hopeless = [&](int head, std::int64_t query) {
      store_exact_row(attention, inputs, head, query, output);
      proof.tier3 += attention.values();
    };
  }
  const AttentionProof fast =
      attention_by(attention_kernels().front(), attention, inputs, accuracy, {}, output, hopeless);
  return proof += fast;
}

AttentionProof attention_rounded(const Attention& attention, const AttentionInputs& inputs, Format format,
                                 std::span<double> output) {
  check(attention, inputs);
  if (!inputs.q.exact() || !inputs.k.exact())
    throw std::invalid_argument("attention: only exact q and k have correctly rounded outputs");
  if (output.size() != outputs_of(attention)) throw std::invalid_argument("attention: the output has another size");
  const AttentionKernels& kernels = attention_kernels().front();
  AttentionProof proof;
  Enclosures enclosures;
  enclosures.resize(output.size());
  Undecided undecided;
  std::vector<int> all_channels(static_cast<std::size_t>(attention.values()));
  for (std::size_t c = 0; c < all_channels.size(); ++c) all_channels[c] = static_cast<int>(c);
  const auto leave = [&](int head, std::int64_t query) { undecided[{head, query}] = all_channels; };

  // Sixteen-bit formats rarely need more than the first tier.
  const bool narrow = format == Format::bfloat16 || format == Format::float16;
  const auto round = [&](int head, std::int64_t query, int channel, std::int64_t& count) {
    const std::size_t i = first_output(attention, head, query) + static_cast<std::size_t>(channel);
    const auto r = round_within(enclosures.head[i], enclosures.tail[i], enclosures.bound[i], format);
    if (std::isnan(enclosures.head[i]) || enclosures.bound[i] == 0) {
      ++proof.exact;
    } else if (r) {
      ++count;
    } else {
      return false;
    }
    output[i] = r.value_or(enclosures.head[i]);
    return true;
  };
  attention_by(kernels, attention, inputs, narrow ? Accuracy::comparison : Accuracy::rounding, {}, enclosures, leave);
  for (std::int64_t query = 0; query < attention.q_len; ++query) {
    for (int head = 0; head < attention.heads; ++head) {
      if (undecided.contains({head, query})) continue;
      for (const int c : all_channels) {
        if (!round(head, query, c, narrow ? proof.tier1 : proof.tier2)) undecided[{head, query}].push_back(c);
      }
    }
  }
  if (narrow && !undecided.empty()) {
    Undecided still;
    const auto hopeless = [&](int head, std::int64_t query) { still[{head, query}] = undecided[{head, query}]; };
    const std::vector<HeadRows> rows = rows_of(undecided);
    attention_by(kernels, attention, inputs, Accuracy::rounding, rows, enclosures, hopeless);
    for (const auto& [at, channels] : undecided) {
      if (still.contains(at)) continue;
      for (const int c : channels) {
        if (!round(at.first, at.second, c, proof.tier2)) still[at].push_back(c);
      }
    }
    undecided = std::move(still);
  }
  for (const auto& [at, channels] : undecided) {
    ExactRow row(attention, inputs, at.first, at.second);
    for (const int c : channels) {
      const RoundedChannel r = round_channel(row, c, format);
      output[first_output(attention, at.first, at.second) + static_cast<std::size_t>(c)] = r.value;
      ++(r.proven ? proof.tier3 : proof.undecided);
      if (r.tie) ++proof.ties;
    }
  }
  return proof;
}

}  // namespace ropewalk::reference
