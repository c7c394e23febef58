// One row of attention by MPFR: the third tier, and the exact decision of ties. docs/numerics.md, 3.6.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/attention.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {

// The row's products q k are exact; inputs must be exact and finite, and at least one key be seen.
class ExactRow {
 public:
  ExactRow(const Attention& attention, const AttentionInputs& inputs, int head, std::int64_t query);

  const std::vector<std::int64_t>& keys() const { return keys_; }  // that are seen

  // Weights for `bits`; before value().
  void evaluate(int bits);
  // Logit of the i-th key that is seen, off by at most 2^-bits.
  const Real& score(std::size_t i) const { return logits_[i]; }
  // Where <q, k> is 0, the logit is its bias exactly.
  bool only_bias(std::size_t i) const { return mpfr_zero_p(raw(products_[i])) != 0; }
  // The sign of that logit less t; only_bias(i) is false. Empty: not decided.
  std::optional<int> side_of_score(std::size_t i, const Real& t);
  // Output channel c, off by at most 2^-bits of the largest |v| of the channel that is seen, which is written to
  // `error`.
  Real value(int channel, Real& error) const;
  // Of the i-th key that is seen, off by at most 2^-bits.
  Real probability(std::size_t i) const;
  // The sign of the channel's value less t. It is 0 if and only if the values less t add up to 0 in each group of equal
  // logits (Lindemann and Weierstrass; under a softcap the condition is only sufficient). Empty: not decided.
  std::optional<int> side_of(int channel, const Real& t);
  Real bias_at(std::size_t i) const;  // exact

 private:
  double v_at(std::size_t i, int channel) const;
  void sum_products();
  void group();
  void exponential(mpfr_ptr x) const;
  long rational_root() const;

  const Attention& a_;
  const AttentionInputs& in_;
  int head_;
  std::int64_t query_;
  double sink_;
  std::vector<std::int64_t> keys_;
  std::vector<Real> products_;  // exact
  int bits_ = 0, working_ = 0;
  std::vector<Real> logits_, weights_;            // of keys_, then the sink's
  Real total_;                                    // of the weights
  std::vector<std::vector<std::size_t>> groups_;  // of equal logits; keys_.size() is the sink
};

// More bits until the value is proved to round to one number.
struct RoundedChannel {
  double value = 0;
  bool tie = false, proven = false;
};
RoundedChannel round_channel(ExactRow& row, int channel, Format format);
RoundedChannel round_score(ExactRow& row, std::size_t i, Format format);  // of the i-th key that is seen

}  // namespace ropewalk::reference
