// One row of attention by MPFR: the third tier, and the exact decision of ties. docs/numerics.md, 3.6.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/attention.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {

// The row's products q k are exact; inputs must be exact and finite, and at least one key be seen.
class ExactRow {
 public:
  ExactRow(const Attention& attention, const AttentionInputs& inputs, int head, std::int64_t query);

  // Weights for `bits`; before value().
  void evaluate(int bits);
  // Output channel c, off by at most 2^-bits of the largest |v| of the channel that is seen, which is written to
  // `error`.
  Real value(int channel, Real& error) const;
  // Whether the channel's value is exactly t: by Lindemann and Weierstrass if and only if the values less t add up to 0
  // in each group of equal logits. With a softcap the condition is only sufficient.
  bool equals(int channel, const Real& t) const;

  // The exact logits of all seen keys, and their numbers.
  const std::vector<std::int64_t>& keys() const { return keys_; }

 private:
  double v_at(std::size_t i, int channel) const;
  Real bias_at(std::size_t i) const;
  void sum_products();
  void group() const;

  const Attention& a_;
  const AttentionInputs& in_;
  int head_;
  std::int64_t query_;
  double sink_;
  std::vector<std::int64_t> keys_;
  std::vector<Real> products_;  // exact
  int bits_ = 0, working_ = 0;
  std::vector<Real> weights_;                             // of keys_, then the sink's
  mutable std::vector<std::vector<std::size_t>> groups_;  // of equal logits; keys_.size() is the sink
};

// attention_rounded's search for one channel: more bits until the value is proved to round to one number.
struct RoundedChannel {
  double value = 0;
  bool tie = false, proven = false;
};
RoundedChannel round_channel(ExactRow& row, int channel, Format format);

}  // namespace ropewalk::reference
