// Real numbers that a reference takes: doubles as they are, or numbers known as head + tail within a bound.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/enclosures.hpp"

namespace ropewalk::reference {

// A view; what it looks at must outlive it. |number - (head + tail)| <= bound + common_bound, |tail| <= u |head|.
// An empty tail or bound stands for zeros, so that a span of doubles alone is exact.
struct Reals {
  std::span<const double> head, tail, bound;
  double common_bound = 0;

  Reals() = default;
  Reals(std::span<const double> exact) : head(exact) {}                       // NOLINT(google-explicit-constructor)
  Reals(const std::vector<double>& exact) : head(exact) {}                    // NOLINT(google-explicit-constructor)
  Reals(const Enclosures& e) : head(e.head), tail(e.tail), bound(e.bound) {}  // NOLINT(google-explicit-constructor)
  Reals(std::span<const double> heads, std::span<const double> tails, double bound_of_all)
      : head(heads), tail(tails), common_bound(bound_of_all) {}

  std::size_t size() const { return head.size(); }
  bool exact() const { return tail.empty() && bound.empty() && common_bound == 0; }
  double tail_at(std::size_t i) const { return tail.empty() ? 0 : tail[i]; }
  double bound_at(std::size_t i) const { return (bound.empty() ? 0 : bound[i]) + common_bound; }
};

}  // namespace ropewalk::reference
