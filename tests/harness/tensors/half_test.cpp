#include "harness/tensors/half.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ropewalk {
namespace {

TEST(Half, EveryPatternSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float b = bfloat16_to_float(pattern), h = float16_to_float(pattern);
    // A NaN stays one, though it may become quiet.
    EXPECT_TRUE(float_to_bfloat16(b) == pattern ||
                (std::isnan(b) && std::isnan(bfloat16_to_float(float_to_bfloat16(b)))));
    EXPECT_TRUE(float_to_float16(h) == pattern || (std::isnan(h) && std::isnan(float16_to_float(float_to_float16(h)))));
  }
}

TEST(Half, TiesGoToEven) {
  // 1 + 2^-8 lies between 0x3f80 and 0x3f81, 1 + 3 * 2^-8 between 0x3f81 and 0x3f82.
  EXPECT_EQ(float_to_bfloat16(0x1.01p0F), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(0x1.03p0F), 0x3f82);
  EXPECT_EQ(float_to_bfloat16(0x1.010002p0F), 0x3f81);
  EXPECT_EQ(float_to_float16(0x1.002p0F), 0x3c00);
  EXPECT_EQ(float_to_float16(0x1.006p0F), 0x3c02);
}

// The extreme values in table 1 of the paper.
TEST(Half, EightBitFormats) {
  EXPECT_EQ(float8_e4m3fn_to_float(0x7e), 448);
  EXPECT_EQ(float8_e4m3fn_to_float(0x08), 0x1p-6F);
  EXPECT_EQ(float8_e4m3fn_to_float(0x07), 0x1.cp-7F);
  EXPECT_EQ(float8_e4m3fn_to_float(0x81), -0x1p-9F);
  EXPECT_TRUE(std::isnan(float8_e4m3fn_to_float(0x7f)));
  EXPECT_TRUE(std::isnan(float8_e4m3fn_to_float(0xff)));
  EXPECT_TRUE(std::signbit(float8_e4m3fn_to_float(0x80)));
  EXPECT_EQ(float8_e5m2_to_float(0x7b), 57344);
  EXPECT_EQ(float8_e5m2_to_float(0x04), 0x1p-14F);
  EXPECT_EQ(float8_e5m2_to_float(0x83), -0x1.8p-15F);
  EXPECT_EQ(float8_e5m2_to_float(0x01), 0x1p-16F);
  EXPECT_TRUE(std::isinf(float8_e5m2_to_float(0xfc)));
  EXPECT_TRUE(std::isnan(float8_e5m2_to_float(0x7d)));
}

// A pattern and the next one differ by one unit of the last place; each is its own value.
TEST(Half, EveryE4M3PatternByItsDefinition) {
  for (int bits = 0; bits < 0x7f; ++bits) {
    const int exponent = bits >> 3, fraction = bits & 7;
    const double expected = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
    EXPECT_EQ(float8_e4m3fn_to_float(static_cast<std::uint8_t>(bits)), expected) << bits;
    EXPECT_EQ(float8_e4m3fn_to_float(static_cast<std::uint8_t>(bits | 0x80)), -expected) << bits;
  }
}

TEST(Half, Overflow) {
  EXPECT_EQ(float_to_bfloat16(0x1.fep127F), 0x7f7f);
  EXPECT_EQ(float_to_bfloat16(0x1.ffp127F), 0x7f80);  // the tie rounds to infinity
  EXPECT_EQ(float_to_float16(65504), 0x7bff);
  EXPECT_EQ(float_to_float16(65520), 0x7c00);
}

}  // namespace
}  // namespace ropewalk
