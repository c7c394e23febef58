// Random numbers of the reference's tests.
#pragma once

#include <cstdint>

namespace ropewalk::reference {

// Numbers that depend on a seed and a counter only (the finaliser of SplitMix64).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() {  // near enough: twelve uniforms
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += unit();
    return sum;
  }

 private:
  std::uint64_t state_;
};

}  // namespace ropewalk::reference
