#include "reference/frequencies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/reference/judging.hpp"

namespace ropewalk::reference {
namespace {

// |a - b| / |a| as a power of two.
double relative_distance(const arb_struct* a, const Real& b) {
  Real middle = real(2000), difference = real(64);
  arf_get_mpfr(raw(middle), arb_midref(a), MPFR_RNDN);
  mpfr_sub(raw(difference), raw(middle), raw(b), MPFR_RNDU);
  mpfr_div(raw(difference), raw(difference), raw(middle), MPFR_RNDU);
  return std::fabs(mpfr_get_d(raw(difference), MPFR_RNDU));
}

TEST(Frequencies, ArePowersToTheirPrecision) {
  for (const double base : {1e4, 123456.789, 1e7, 0.3, 1e300}) {
    for (const int dim : {2, 20, 64, 256, 1024}) {
      const Frequencies f = Frequencies::powers(base, dim);
      ASSERT_EQ(f.size(), dim / 2);
      EXPECT_EQ(f.head(0), 1);
      EXPECT_TRUE(f.exact(0));
      for (int j = 0; j < f.size(); j += 1 + dim / 20) {
        ArbReal truth = ArbReal::power(base, dim, j);
        for (const int bits : {60, 160, 1000}) {
          EXPECT_LE(relative_distance(truth.at(1500), f.at(j, bits)), std::exp2(8 - bits))
              << base << " " << dim << " " << j;
        }
        Real sum = real(f.head(j), 300);
        mpfr_add_d(raw(sum), raw(sum), f.tail(j), MPFR_RNDN);
        EXPECT_LE(relative_distance(truth.at(1500), sum), 0x1p-105);
      }
    }
  }
}

TEST(Frequencies, AreGivenNumbersExactly) {
  const std::vector<double> values = {1, 0.1f, 1e300, 0x1p-1074, 0, -2};
  const Frequencies f = Frequencies::given(values);
  for (int j = 0; j < f.size(); ++j) {
    EXPECT_EQ(f.head(j), values[static_cast<std::size_t>(j)]);
    EXPECT_EQ(f.tail(j), 0);
    EXPECT_TRUE(f.exact(j));
    EXPECT_EQ(mpfr_cmp_d(raw(f.at(j, 10)), f.head(j)), 0);
  }
}

TEST(Frequencies, RefuseWhatHasNoPowers) {
  EXPECT_THROW(Frequencies::powers(0, 64), std::invalid_argument);
  EXPECT_THROW(Frequencies::powers(-1, 64), std::invalid_argument);
  EXPECT_THROW(Frequencies::powers(std::nan(""), 64), std::invalid_argument);
  EXPECT_THROW(Frequencies::powers(std::numeric_limits<double>::infinity(), 64), std::invalid_argument);
  EXPECT_THROW(Frequencies::powers(1e4, 63), std::invalid_argument);
  EXPECT_THROW(Frequencies::powers(1e4, 0), std::invalid_argument);
  EXPECT_THROW(Frequencies::powers(1e4, 64).at(32, 100), std::out_of_range);
}

}  // namespace
}  // namespace ropewalk::reference
