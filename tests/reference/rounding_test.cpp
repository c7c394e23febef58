// Narrowing against the neighbours of every number of the formats.
#include "reference/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/rows.hpp"
#include "tests/reference/judging.hpp"

namespace ropewalk::reference {
namespace {

double value_of(Format format, std::uint32_t bits) {
  if (format == Format::float32) return std::bit_cast<float>(bits);
  if (format == Format::bfloat16) return std::bit_cast<float>(bits << 16);
  const int exponent = static_cast<int>(bits >> 10) & 31, fraction = static_cast<int>(bits & 1023);
  return exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
}

// Between neighbours `low` and `high`, the lower of which has even bits or not.
void expect_rounding(Format format, double low, double high, bool low_is_even) {
  const double middle = low + (high - low) / 2, even = low_is_even ? low : high;
  EXPECT_TRUE(may_be_midpoint(middle));
  for (const double sign : {1.0, -1.0}) {
    const auto rounded = [&](double head, double tail) { return round_head_tail(sign * head, sign * tail, format); };
    ASSERT_EQ(rounded(middle, 0), sign * even);
    ASSERT_EQ(rounded(middle, 0x1p-1074), sign * high);
    ASSERT_EQ(rounded(middle, -0x1p-1074), sign * low);
    ASSERT_EQ(rounded(std::nextafter(middle, low), 0x1p-1074), sign * low);
    ASSERT_EQ(rounded(std::nextafter(middle, high), -0x1p-1074), sign * high);
    ASSERT_EQ(rounded(low, 0x1p-1074), sign * low);
    ASSERT_EQ(rounded(high, -0x1p-1074), sign * high);
    ASSERT_EQ(std::signbit(rounded(low, 0x1p-1074)), sign < 0);
  }
}

TEST(Rounding, IsRightBetweenAllNeighboursOfTheSixteenBitFormats) {
  for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    expect_rounding(Format::bfloat16, value_of(Format::bfloat16, bits), value_of(Format::bfloat16, bits + 1),
                    bits % 2 == 0);
  }
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    expect_rounding(Format::float16, value_of(Format::float16, bits), value_of(Format::float16, bits + 1),
                    bits % 2 == 0);
  }
}

TEST(Rounding, IsRightBetweenNeighboursOfFloat32) {
  Draws numbers(31);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<std::uint32_t>(i < 100000 ? numbers.below(0x7f7fffff) : numbers.below(0x00800010));
    expect_rounding(Format::float32, value_of(Format::float32, bits), value_of(Format::float32, bits + 1),
                    bits % 2 == 0);
  }
}

TEST(Rounding, OverflowsAtTheMiddleToTheNextPowerOfTwo) {
  EXPECT_EQ(round_head_tail(65520, -0x1p-40, Format::float16), 65504);
  EXPECT_EQ(round_head_tail(65520, 0, Format::float16), INFINITY);
  EXPECT_EQ(round_head_tail(-1e300, 0, Format::float16), -INFINITY);
  EXPECT_EQ(round_head_tail(0x1.ffp127, 0, Format::bfloat16), INFINITY);
  EXPECT_EQ(round_head_tail(0x1.ffp127, -1, Format::bfloat16), 0x1.fep127);
  EXPECT_EQ(round_head_tail(0x1.ffffffp127, -1, Format::float32), 0x1.fffffep127);
  EXPECT_EQ(round_head_tail(1e300, 0, Format::float64), 1e300);
  EXPECT_TRUE(std::isnan(round_head_tail(std::nan(""), 0, Format::float16)));
}

TEST(Rounding, OfRowsEqualsThatOfSingleValues) {
  Draws numbers(32);
  for (const int n : {1, 3, 8, 31, 64, 100}) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& v : values) v = (numbers.unit() - 0.5) * std::exp2(-static_cast<double>(numbers.below(150)));
    std::vector<float> floats(values.size());
    std::vector<std::uint16_t> bfloats(values.size()), halves(values.size());
    EXPECT_FALSE(narrow_row(values.data(), n, floats.data()));
    EXPECT_FALSE(narrow_row(Format::bfloat16, values.data(), n, bfloats.data()));
    EXPECT_FALSE(narrow_row(Format::float16, values.data(), n, halves.data()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(floats[i], round_head_tail(values[i], 0, Format::float32));
      EXPECT_EQ(bfloats[i], bfloat16_bits(round_head_tail(values[i], 0, Format::bfloat16)));
      EXPECT_EQ(halves[i], float16_bits(round_head_tail(values[i], 0, Format::float16)));
      EXPECT_EQ(std::copysign(value_of(Format::float16, halves[i] & 0x7fff), values[i]),
                round_head_tail(values[i], 0, Format::float16));
    }
    values.back() = 0.5 + 0x1p-12;  // a midpoint of float16; for the others flagged as well
    EXPECT_TRUE(narrow_row(values.data(), n, floats.data()));
    EXPECT_TRUE(narrow_row(Format::bfloat16, values.data(), n, bfloats.data()));
    EXPECT_TRUE(narrow_row(Format::float16, values.data(), n, halves.data()));
  }
}

// The test must refuse whatever an error could carry over a midpoint of doubles, or over the head itself.
TEST(Rounding, TestRefusesWhatItCannotProve) {
  constexpr double kError = 0x1p-98;
  EXPECT_TRUE(rounds_to_head(1, 0x1p-60, kError));
  EXPECT_FALSE(rounds_to_head(1, 0x1p-53 - 0x1p-99, kError));   // 1 + 2^-53 is the midpoint above 1
  EXPECT_FALSE(rounds_to_head(1, -0x1p-54 + 0x1p-99, kError));  // and 1 - 2^-54 the one below
  EXPECT_TRUE(rounds_to_head(1, 0x1p-53 - 0x1p-97, kError));
  EXPECT_FALSE(rounds_to_head(0.75, 0x1p-99, kError));  // on which side of the head?
  EXPECT_FALSE(rounds_to_head(0, 0, kError));
  EXPECT_TRUE(rounds_to_head(0, 0, 0));  // exact
}

}  // namespace
}  // namespace ropewalk::reference
