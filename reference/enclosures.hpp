// Real numbers that are known with a proved bound: |value - (head + tail)| <= bound.
#pragma once

#include <cstddef>
#include <vector>

namespace ropewalk::reference {

struct Enclosures {
  std::vector<double> head, tail, bound;
  std::size_t size() const { return head.size(); }
  void resize(std::size_t n) {
    head.resize(n);
    tail.resize(n);
    bound.resize(n);
  }
};

}  // namespace ropewalk::reference
