// What cosines and sines of a scaled table are multiplied by, over the reals. Definitions: docs/numerics.md,
// section 1.8.
#pragma once

#include <functional>

#include "reference/double_double.hpp"
#include "reference/real.hpp"
#include "reference/scaling.hpp"

namespace ropewalk::reference {

// A positive number.
class Amplitude {
 public:
  Amplitude() = default;
  explicit Amplitude(double exact);
  // A positive number that is not a finite binary one, by what evaluates it: relative error at most 2^(8-bits).
  using Evaluate = std::function<Real(int bits)>;
  static Amplitude evaluated(Evaluate evaluate);
  // Throws std::invalid_argument where the scaling's amplitude is not defined.
  static Amplitude of(const Scaling& scaling);

  bool is_one() const { return head_ == 1 && exact(); }
  bool exact() const { return !evaluate_; }  // it is head()
  double head() const { return head_; }      // correctly rounded
  double tail() const { return tail_; }      // what is left, rounded: with the head within 2^-105 of it
  Real at(int bits) const;                   // relative error at most 2^(8-bits)

 private:
  double head_ = 1, tail_ = 0;
  Evaluate evaluate_;  // none: the head
};

}  // namespace ropewalk::reference
