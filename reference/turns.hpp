// Angles as fractions of a full turn in fixed point: reducing an angle to one turn is an integer overflow.
#pragma once

#include <array>
#include <cstdint>

#include "reference/real.hpp"

namespace ropewalk::reference {

// A fraction of a turn in [0, 1), the value sum of words[i] * 2^(64 i - 192).
struct Turns {
  std::array<std::uint64_t, 3> words{};
};

// The leading 128 bits of a fraction of a turn.
struct Turn128 {
  std::uint64_t high = 0, low = 0;
};

// frac(factor * turns), cut after 128 bits: error below (factor * error(turns) + 2^-128) turns.
inline Turn128 times(const Turns& turns, std::uint64_t factor) {
  __extension__ using Wide = unsigned __int128;
  const Wide lowest = static_cast<Wide>(turns.words[0]) * factor;
  const Wide middle = static_cast<Wide>(turns.words[1]) * factor + static_cast<std::uint64_t>(lowest >> 64);
  const std::uint64_t high = turns.words[2] * factor + static_cast<std::uint64_t>(middle >> 64);
  return {high, static_cast<std::uint64_t>(middle)};
}

// Radians to turns: frac(angle / 2 pi) to 2^-193 plus what `angle` is off. One for a set of angles below
// 2^max_exponent.
class TurnsOf {
 public:
  explicit TurnsOf(int max_exponent);
  TurnsOf(const TurnsOf&) = delete;
  TurnsOf& operator=(const TurnsOf&) = delete;
  ~TurnsOf();
  Turns operator()(const Real& angle);

 private:
  Real inverse_turn_, scaled_;
  mpz_t integer_;
};

// frac(angle / 2 pi) of doubles with |angle| >= 2^-32, error below 2^-127 turns; 0 for smaller ones, NaN and
// infinities.
void turns_of_angles(const double* angles, int n, std::uint64_t* high, std::uint64_t* low);

}  // namespace ropewalk::reference
