// Helpers of the reference's tests: numbers from a counter, and blocks of the table judged by the oracle.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "reference/table.hpp"
#include "tests/reference/arb_oracle.hpp"
#include "tests/reference/draws.hpp"

namespace ropewalk::reference {

// Counts what the oracle finds wrong, so that a million checks make one line and the first few faults are shown.
struct Tally {
  std::int64_t values = 0;  // in each format
  std::int64_t wrong = 0;
  double worst_tail = 0;
  double largest_error = 0x1p-98;  // that head + tail may have
  std::string first;

  void fault(const std::string& what) {
    if (wrong++ == 0) first = what;
  }

  void check(const Truth& truth, double error, Claim claim, const std::string& where) {
    ++values;
    Proof proof;
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
      double got = 0;
      round_to(kFormats[i], {&claim.head, 1}, {&claim.tail, 1}, {&got, 1}, proof);
      if (got != truth.rounded[i])
        fault(where + " format " + std::to_string(i) + " head " + std::to_string(claim.head));
    }
    const int side = (claim.tail > 0) - (claim.tail < 0);
    if (side != (truth.side > 0) - (truth.side < 0)) fault(where + " side of the tail");
    worst_tail = std::max(worst_tail, error);
    if (!(error <= largest_error)) fault(where + " tail");
  }

  // Row i of block is position positions[i] times thetas[j].
  void check_block(const SinCos& block, const std::vector<std::int64_t>& positions, std::vector<ArbReal>& thetas,
                   ArbReal amplitude = ArbReal::exactly(1)) {
    largest_error = block.error;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (std::size_t j = 0; j < thetas.size(); ++j) {
        const std::size_t k = i * thetas.size() + j;
        const Claim sin = {block.sin[k], block.sin_tail[k]}, cos = {block.cos[k], block.cos_tail[k]};
        const Judged judged = judge(thetas[j], amplitude, positions[i], sin, cos);
        const std::string where = "position " + std::to_string(positions[i]) + " pair " + std::to_string(j);
        check(judged.sin, judged.sin_error, sin, where + " sin");
        check(judged.cos, judged.cos_error, cos, where + " cos");
      }
    }
  }

  void expect_right(const Proof& proof) const {
    EXPECT_EQ(wrong, 0) << first;
    EXPECT_EQ(proof.undecided, 0);
    EXPECT_EQ(proof.fast + proof.fallback + proof.exact, values);
    const auto record = [](const char* name, std::int64_t n) {
      testing::Test::RecordProperty(name, std::to_string(n));
      std::printf("%s %lld  ", name, static_cast<long long>(n));
    };
    record("values_per_format", values);
    record("fast", proof.fast);
    record("fallback", proof.fallback);
    record("exact", proof.exact);
    std::printf("largest error of head + tail 2^%.2f\n", std::log2(worst_tail));
  }
};

inline std::vector<std::int64_t> positions_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

inline std::vector<ArbReal> exact_reals(const std::vector<double>& values) {
  std::vector<ArbReal> reals;
  reals.reserve(values.size());
  for (const double value : values) reals.push_back(ArbReal::exactly(value));
  return reals;
}

inline std::vector<ArbReal> power_reals(double base, int dim) {
  std::vector<ArbReal> reals;
  reals.reserve(static_cast<std::size_t>(dim / 2));
  for (int j = 0; j < dim / 2; ++j) reals.push_back(ArbReal::power(base, dim, j));
  return reals;
}

}  // namespace ropewalk::reference
