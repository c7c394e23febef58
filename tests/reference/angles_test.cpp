// Given angles against the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/table.hpp"
#include "tests/reference/judging.hpp"

namespace ropewalk::reference {
namespace {

Proof judge_angles(const std::vector<double>& angles, Tally& tally) {
  SinCos block;
  const Proof proof = sin_cos_of_angles(angles, 1, static_cast<int>(angles.size()), block);
  std::vector<ArbReal> reals = exact_reals(angles);
  tally.check_block(block, {1}, reals);
  return proof;
}

// What a float32 table stores: positions times frequencies, rounded.
TEST(Angles, OfFloat32TablesAreCorrectlyRounded) {
  Draws numbers(11);
  std::vector<double> angles;
  for (int i = 0; i < 60000; ++i) {
    const auto frequency = static_cast<float>(std::exp(-16 * numbers.unit()));
    angles.push_back(frequency * static_cast<float>(numbers.below(std::int64_t{1} << (1 + numbers.below(20)))));
  }
  Tally tally;
  const Proof proof = judge_angles(angles, tally);
  tally.expect_right(proof);
  EXPECT_EQ(proof.fallback, 0);
}

TEST(Angles, OfEveryExponentAreCorrectlyRounded) {
  Draws numbers(12);
  std::vector<double> angles = {0.0, -0.0, 0x1p-1074, -0x1p-1074, 0x1p-1022, 1e300, 0x1.fffffffffffffp1023};
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    angles.push_back(std::ldexp(1.0, exponent));
    for (int i = 0; i < 4; ++i) angles.push_back(std::ldexp(numbers.unit() - 0.5, exponent + 1));
  }
  for (const double edge : {0x1p-20, 0x1p-28, 0x1p-32, 0x1p-332, 0x1p-900, 0x1p-1000, 0x1p-1021}) {
    for (int i = 0; i < 50; ++i) angles.push_back(edge * (1 + (numbers.unit() - 0.5) * 1e-3));
  }
  Tally tally;
  const Proof proof = judge_angles(angles, tally);
  tally.expect_right(proof);
}

// Doubles next to multiples of pi/2: the smallest sines and cosines there are.
TEST(Angles, NextToZerosOfSineAndCosineAreCorrectlyRounded) {
  std::vector<double> angles = {0x1.6ac5b262ca1ffp+849};  // the double nearest to a multiple of pi/2, 2^-60.9 off
  Real pi = real(2000), multiple = real(2000);
  mpfr_const_pi(raw(pi), MPFR_RNDN);
  Draws numbers(13);
  for (int i = 1; i < 3000; ++i) {
    mpfr_mul_si(raw(multiple), raw(pi), i < 1000 ? i : numbers.below(std::int64_t{1} << 52), MPFR_RNDN);
    mpfr_div_2ui(raw(multiple), raw(multiple), 1, MPFR_RNDN);
    angles.push_back(mpfr_get_d(raw(multiple), MPFR_RNDN));
  }
  Tally tally;
  const Proof proof = judge_angles(angles, tally);
  tally.expect_right(proof);
  EXPECT_GT(proof.fallback, 100);
}

TEST(Angles, ThatAreNotNumbersGiveNan) {
  const std::vector<double> angles = {std::nan(""), INFINITY, -INFINITY, 1.0, -0.0, 0.0};
  SinCos block;
  const Proof proof = sin_cos_of_angles(angles, 2, 3, block);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(std::isnan(block.sin[i])) << i;
    EXPECT_TRUE(std::isnan(block.cos[i])) << i;
    for (const Format format : kFormats) {
      double out = 0;
      Proof ignored;
      round_to(format, {&block.sin[i], 1}, {&block.sin_tail[i], 1}, {&out, 1}, ignored);
      EXPECT_TRUE(std::isnan(out));
    }
  }
  EXPECT_TRUE(std::signbit(block.sin[4]));
  EXPECT_FALSE(std::signbit(block.sin[5]));
  EXPECT_EQ(proof.exact, 10);
  EXPECT_EQ(proof.fast, 2);
}

TEST(Angles, RefuseTheWrongNumber) {
  SinCos block;
  EXPECT_THROW(sin_cos_of_angles(std::vector<double>(7), 2, 3, block), std::invalid_argument);
}

// Angles chosen so that the sine's or cosine's double is a midpoint of the format, where rounding the double again goes
// wrong.
struct Midpoint {
  Format format;
  double value;
};

std::vector<Midpoint> midpoints() {
  std::vector<Midpoint> all;
  Draws numbers(14);
  for (const Format format : {Format::float32, Format::bfloat16, Format::float16}) {
    const int p = precision_of(format);
    for (int i = 0; i < 4000; ++i) {
      // An odd number of half quanta, in a binade of (0, 1) or among the subnormal numbers.
      const int lowest = min_exponent_of(format);
      const int exponent = i % 4 == 0 ? lowest : -1 - static_cast<int>(numbers.below(i % 2 == 0 ? 3 : -lowest));
      const std::int64_t top = std::int64_t{1} << (p - 1);
      const std::int64_t significand = i % 4 == 0 ? numbers.below(top) : top + numbers.below(top);
      all.push_back({format, std::ldexp(static_cast<double>(2 * significand + 1), exponent - p)});
    }
  }
  return all;
}

TEST(Angles, WhoseDoublesAreMidpointsOfNarrowFormatsAreCorrectlyRounded) {
  std::vector<double> angles;
  for (const Midpoint& m : midpoints()) {
    for (const double middle : {std::asin(m.value), std::acos(m.value)}) {
      double angle = std::nextafter(middle, -1);
      for (int i = 0; i < 3; ++i, angle = std::nextafter(angle, 4)) angles.push_back(angle);
    }
  }
  SinCos block;
  const Proof proof = sin_cos_of_angles(angles, 1, static_cast<int>(angles.size()), block);
  Tally tally;
  std::vector<ArbReal> reals = exact_reals(angles);
  tally.check_block(block, {1}, reals);
  tally.expect_right(proof);

  // The test is worth something only if it met midpoints, on both sides, that a second rounding gets wrong.
  for (const Format format : {Format::float32, Format::bfloat16, Format::float16}) {
    std::vector<double> once(angles.size()), twice(angles.size());
    const std::vector<double> zero(angles.size());
    Proof counted, ignored;
    std::int64_t wrong_by_second_rounding = 0;
    for (const auto& [head, tail] : {std::pair{&block.sin, &block.sin_tail}, std::pair{&block.cos, &block.cos_tail}}) {
      round_to(format, *head, *tail, once, counted);
      round_to(format, *head, zero, twice, ignored);
      for (std::size_t i = 0; i < angles.size(); ++i) wrong_by_second_rounding += once[i] != twice[i];
    }
    std::printf("midpoints met %lld, second rounding wrong %lld\n", static_cast<long long>(counted.midpoints),
                static_cast<long long>(wrong_by_second_rounding));
    EXPECT_GT(counted.midpoints, 1000);
    EXPECT_GT(wrong_by_second_rounding, 500);
  }
}

// The same through the table's own narrowing, which sees no tails: each angle is a frequency at position 1.
TEST(Angles, WhoseDoublesAreMidpointsAreFilledRight) {
  for (const Format format : {Format::bfloat16, Format::float16, Format::float32}) {
    std::vector<double> angles;
    for (const Midpoint& m : midpoints()) {
      if (m.format == format && m.value > 0x1p-14) angles.push_back(std::asin(m.value));
    }
    const auto pairs = static_cast<int>(angles.size());
    const Table table(Frequencies::given(angles));
    SinCos block;
    table.sparse(std::vector<std::int64_t>{1}, block);
    std::vector<double> expected(angles.size());
    Proof proof;
    round_to(format, block.sin, block.sin_tail, expected, proof);
    std::vector<float> sin(angles.size()), cos(angles.size());
    std::vector<std::uint16_t> sin_bits(angles.size()), cos_bits(angles.size());
    const bool wide = format == Format::float32;
    const Proof filled = table.fill(format, 1, 1, wide ? static_cast<void*>(sin.data()) : sin_bits.data(),
                                    wide ? static_cast<void*>(cos.data()) : cos_bits.data());
    EXPECT_GE(filled.midpoints, proof.midpoints);
    EXPECT_GT(proof.midpoints, pairs / 4);
    for (std::size_t j = 0; j < angles.size(); ++j) {
      double got = sin[j];
      if (format == Format::bfloat16) got = std::bit_cast<float>(static_cast<std::uint32_t>(sin_bits[j]) << 16);
      if (format == Format::float16) got = std::ldexp(1024 + (sin_bits[j] & 1023), (sin_bits[j] >> 10) - 25);
      ASSERT_EQ(got, expected[j]) << j;
    }
  }
}

}  // namespace
}  // namespace ropewalk::reference
