// An oracle that shares no code with the reference: Arb's ball arithmetic, and rounding by integers.
#pragma once

#include <arb.h>

#include <array>
#include <cstdint>
#include <functional>

#include "reference/format.hpp"

namespace ropewalk::reference {

constexpr std::array<Format, 4> kFormats = {Format::float64, Format::float32, Format::bfloat16, Format::float16};

// A real number, able to give itself to any precision: what the oracle is asked about.
class ArbReal {
 public:
  static ArbReal exactly(double value);
  static ArbReal power(double base, int dim, int j);  // base^(-2j/dim), as exp(-(2j/dim) log base)
  using Evaluate = std::function<void(arb_t out, slong bits)>;
  explicit ArbReal(Evaluate evaluate);
  ArbReal(const ArbReal& other);
  ArbReal& operator=(const ArbReal&) = delete;
  ~ArbReal();
  // The ball at a precision; the result lasts until the next call. Not thread-safe.
  const arb_struct* at(slong bits);

 private:
  Evaluate evaluate_;
  slong bits_ = 0;
  arb_t ball_;
};

// What is true of one sine or cosine.
struct Truth {
  std::array<double, 4> rounded{};  // by kFormats
  int side = 0;                     // sign of (value - rounded to double)
};

Truth truth_of(ArbReal& x);  // of a number that no format holds exactly

// Of position * theta: sine and cosine. head and tail are claims to be judged: tail_error is the largest of
// |value - (head + tail)|, a bound.
struct Claim {
  double head, tail;
};
struct Judged {
  Truth sin, cos;
  double sin_error, cos_error;
};
Judged judge(ArbReal& theta, std::int64_t position, Claim sin, Claim cos);
// The same times an amplitude.
Judged judge(ArbReal& theta, ArbReal& amplitude, std::int64_t position, Claim sin, Claim cos);

}  // namespace ropewalk::reference
