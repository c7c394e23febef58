// Certified matrix products against exact sums, wider than one tile.
#include "reference/dot.hpp"

#include <gtest/gtest.h>

#include "tests/reference/lora_oracle.hpp"
#include "tests/reference/lora_problems.hpp"

namespace ropewalk::reference {
namespace {

std::vector<double> numbers_of(Kind kind, std::int64_t n, std::uint64_t seed) {
  Draws numbers(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = number_of(kind, numbers, i);
  return values;
}

bool contains(const Enclosures& e, std::size_t i, Dyadic value) {
  if (std::isinf(e.bound[i])) return true;
  value.add(Dyadic(-e.head[i])).add(Dyadic(-e.tail[i]));
  return arf_cmpabs(value.get(), Dyadic(e.bound[i]).get()) <= 0;
}

class Products : public testing::TestWithParam<Kind> {};

TEST_P(Products, AreWithinTheirBounds) {
  constexpr ProductShape kShape = {3, 70, 131};
  const std::vector<double> left = numbers_of(GetParam(), 3 * 70, 1), right = numbers_of(GetParam(), 70 * 131, 2);
  const Enclosures out = product(left, right, kShape);
  ASSERT_EQ(out.size(), std::size_t{3 * 131});
  for (std::size_t i = 0; i < out.size(); ++i) {
    Dyadic sum;
    for (std::size_t k = 0; k < 70; ++k)
      sum.add_product(Dyadic(left[i / 131 * 70 + k]), Dyadic(right[k * 131 + i % 131]));
    ASSERT_TRUE(contains(out, i, sum)) << i;
  }
}

// Left factors that lie at an end of their enclosures, such that all the errors add up.
TEST_P(Products, HoldTheErrorsOfTheirFactors) {
  constexpr std::size_t kTerms = 20, kWidth = 67;
  Enclosures left;
  left.resize(kTerms);
  left.head = numbers_of(GetParam(), kTerms, 3);
  Draws numbers(4);
  for (std::size_t k = 0; k < kTerms; ++k) {
    left.tail[k] = left.head[k] * 0x1p-54 * numbers.unit();
    left.bound[k] = std::fabs(left.head[k]) * 0x1p-100 * numbers.unit();
  }
  const std::vector<double> right = numbers_of(GetParam(), kTerms * kWidth, 5);
  const Enclosures out = product(left, right, {1, kTerms, kWidth});
  for (std::size_t j = 0; j < kWidth; ++j)
    for (const double sign : {1.0, -1.0}) {
      Dyadic sum;
      for (std::size_t k = 0; k < kTerms; ++k) {
        Dyadic factor(left.head[k]);
        factor.add(Dyadic(left.tail[k])).add(Dyadic(std::copysign(left.bound[k], sign * right[k * kWidth + j])));
        sum.add_product(factor, Dyadic(right[k * kWidth + j]));
      }
      ASSERT_TRUE(contains(out, j, sum)) << j;
    }
}

TEST_P(Products, OfSingleEnclosuresHoldToo) {
  const std::vector<double> heads = numbers_of(GetParam(), 4000, 6);
  Draws numbers(7);
  const auto uncertain = [&](double head) {
    return Enclosure{head, head * 0x1p-54 * numbers.unit(), std::fabs(head) * 0x1p-100 * numbers.unit()};
  };
  for (std::size_t i = 0; i + 1 < heads.size(); i += 2) {
    const Enclosure a = uncertain(heads[i]), b = uncertain(heads[i + 1]);
    Enclosures scaled;
    scaled.resize(2);
    put(scaled, 0, a);
    scale(scaled, b);
    put(scaled, 1, sum(a, b));
    for (const double sa : {1.0, -1.0})
      for (const double sb : {1.0, -1.0}) {
        Dyadic left(a.head), right(b.head), both;
        left.add(Dyadic(a.tail)).add(Dyadic(sa * a.bound));
        right.add(Dyadic(b.tail)).add(Dyadic(sb * b.bound));
        ASSERT_TRUE(contains(scaled, 0, both.add_product(left, right))) << i;
        ASSERT_TRUE(contains(scaled, 1, left.add(right))) << i;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Products, testing::ValuesIn(kKinds), name_of_kind);

TEST(Products, WithoutAnyRoundingHaveBoundZero) {
  const std::vector<double> left = numbers_of(Kind::bfloats, 3 * 70, 1), right = numbers_of(Kind::bfloats, 70 * 9, 2);
  const Enclosures out = product(left, right, {3, 70, 9});
  for (const double bound : out.bound) ASSERT_EQ(bound, 0);
}

TEST(Products, OutsideTheRangeOfDoublesAreUnknown) {
  const Enclosures large = product(std::vector<double>{0x1p1000, 1}, std::vector<double>{0x1p100, 1}, {1, 2, 1});
  EXPECT_EQ(large.bound[0], HUGE_VAL);
  const Enclosures small = product(std::vector<double>{0x1p-1000}, std::vector<double>{0x1p-100}, {1, 1, 1});
  EXPECT_EQ(small.head[0], 0);
  EXPECT_GT(small.bound[0], 0);
  EXPECT_LT(small.bound[0], 0x1p-1060);
}

TEST(Products, RefuseOtherSizes) {
  EXPECT_THROW(product(std::vector<double>(5), std::vector<double>(6), {2, 3, 2}), std::invalid_argument);
  EXPECT_THROW(product(std::vector<double>(6), std::vector<double>(5), {2, 3, 2}), std::invalid_argument);
}

TEST(LowestBit, IsThatOfTheFinestNumber) {
  EXPECT_EQ(lowest_bit(std::vector<double>{1, 0, 0.75}), -2);
  EXPECT_EQ(lowest_bit(std::vector<double>{0x1p-1074, 1}), -1074);
  EXPECT_EQ(lowest_bit(std::vector<double>{-0x1.8p-1022}), -1023);
  EXPECT_EQ(lowest_bit(std::vector<double>{std::nextafter(1.0, 2.0)}), -52);
  EXPECT_EQ(lowest_bit(std::vector<double>{0.0, -0.0}), 1024);
}

}  // namespace
}  // namespace ropewalk::reference
