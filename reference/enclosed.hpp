// Sums and products of single enclosures. Every rounding error is itself computed (error-free
// transformations) and what is not kept goes into the bound: a result without error has bound 0. docs/numerics.md, 4.2.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "reference/double_double.hpp"
#include "reference/enclosures.hpp"
#include "reference/rounding.hpp"

namespace ropewalk::reference {

struct Enclosure {
  double head = 0, tail = 0, bound = 0;
};

// More than what fewer than 2^30 additions of non-negative doubles, each rounded, can have lost.
constexpr double kInflation = 1 + 0x1p-20;

// What is known of a value outside the range of doubles.
constexpr Enclosure kUnknown = {0, 0, std::numeric_limits<double>::infinity()};

// head = RN(head + tail), and bound enlarged for its own roundings. `lost` is a sum of non-negative doubles.
ROPEWALK_INLINE Enclosure enclosure(double head, double tail, double lost) {
  const DoubleDouble sum = two_sum(head, tail);
  const Enclosure e = {sum.high + 0.0, sum.low, lost * kInflation};  // + 0.0: no negative zero
  return std::isfinite(e.head) && std::isfinite(e.tail) && std::isfinite(e.bound) ? e : kUnknown;
}

inline Enclosure at(const Enclosures& e, std::size_t i) { return {e.head[i], e.tail[i], e.bound[i]}; }
inline void put(Enclosures& e, std::size_t i, Enclosure v) {
  e.head[i] = v.head;
  e.tail[i] = v.tail;
  e.bound[i] = v.bound;
}

inline Enclosure sum(Enclosure a, Enclosure b) {
  const DoubleDouble head = two_sum(a.head, b.head), tail = two_sum(a.tail, b.tail);
  const DoubleDouble low = two_sum(head.low, tail.high);
  return enclosure(head.high, low.high, a.bound + b.bound + std::fabs(low.low) + std::fabs(tail.low));
}

// Without underflow (lowest_bit of the operands' parts adds up to -1074 at least).
inline Enclosure product(Enclosure a, Enclosure b) {
  const DoubleDouble hh = two_product(a.head, b.head), th = two_product(a.tail, b.head);
  const DoubleDouble ht = two_product(a.head, b.tail);
  const DoubleDouble low = two_sum(hh.low, th.high), lower = two_sum(low.high, ht.high);
  const double a_size = std::fabs(a.head) + std::fabs(a.tail), b_size = std::fabs(b.head) + std::fabs(b.tail);
  return enclosure(hh.high, lower.high,
                   std::fabs(low.low) + std::fabs(lower.low) + std::fabs(th.low) + std::fabs(ht.low) +
                       std::fabs(a.tail * b.tail) + a.bound * (b_size + b.bound) + a_size * b.bound);
}

// Whether head + tail, head = RN(head + tail), lies midway between two neighbours of the format.
bool is_tie(Format format, double head, double tail);

// The number to which every real of the enclosure rounds; empty if there is none, or where a zero's sign is open.
std::optional<double> round_enclosed(Format format, Enclosure v);

}  // namespace ropewalk::reference
