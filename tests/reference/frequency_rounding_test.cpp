#include "reference/frequency_rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/rounding.hpp"
#include "tests/reference/arb_oracle.hpp"

namespace ropewalk::reference {
namespace {

TEST(RoundedFrequencies, AreWhatArbGives) {
  for (const double base : {1e4, 500000.0, 123456.789, 1e7, 0.3, 1e30}) {
    for (const int dim : {20, 128}) {
      const Frequencies f = Frequencies::powers(base, dim);
      for (std::size_t format = 0; format < kFormats.size(); ++format) {
        Proof proof;
        const std::vector<double> rounded = rounded_frequencies(f, kFormats[format], proof);
        EXPECT_EQ(rounded[0], 1);
        EXPECT_EQ(proof.fast + proof.fallback + proof.exact, dim / 2);
        EXPECT_EQ(proof.undecided, 0);
        for (int j = 1; j < dim / 2; ++j) {
          ArbReal theta = ArbReal::power(base, dim, j);
          EXPECT_EQ(rounded[static_cast<std::size_t>(j)], truth_of(theta).rounded[format])
              << base << " " << dim << " " << j << " " << name_of(kFormats[format]);
        }
      }
    }
  }
}

// base 2^50: theta_j = 2^(-100 j / dim), exactly. float16's least number is 2^-24, so that 2^-25 is a midpoint.
TEST(RoundedFrequencies, PowersOfTwoAreExactAndTiesGoToEven) {
  const Frequencies f = Frequencies::powers(0x1p50, 8);
  Proof proof;
  const auto half = rounded_frequencies(f, Format::float16, proof);
  EXPECT_EQ(half[2], 0) << "2^-25 lies midway between 0 and 2^-24; 0 is even";
  EXPECT_EQ(proof.midpoints, 1);
  EXPECT_EQ(proof.exact, 2) << "1 and 2^-25; 2^-12.5 and 2^-37.5 are no powers of two";
  const auto single = rounded_frequencies(f, Format::float32, proof);
  EXPECT_EQ(single[2], 0x1p-25);
  EXPECT_EQ(single[1], static_cast<float>(std::exp2(-12.5)));
  EXPECT_EQ(mpfr_get_d(raw(*f.finite(2)), MPFR_RNDN), 0x1p-25);
  EXPECT_FALSE(f.finite(1).has_value());
  EXPECT_EQ(Frequencies::powers(0.25, 8).head(2), 2);
  EXPECT_FALSE(Frequencies::powers(3, 8).finite(2).has_value());
}

TEST(RoundedFrequencies, WhatTheFormatCannotHoldIsInfinite) {
  Proof proof;
  EXPECT_EQ(rounded_frequencies(Frequencies::powers(1e-300, 8), Format::float32, proof)[3], HUGE_VAL);
}

}  // namespace
}  // namespace ropewalk::reference
