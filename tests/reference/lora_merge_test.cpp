// What exact arithmetic says about merging and unmerging the same change again and again.
#include <gtest/gtest.h>

#include "tests/reference/lora_problems.hpp"

namespace ropewalk::reference {
namespace {

struct Changes {
  std::int64_t weights = 0, first = 0, later = 0;
};

// Cycles 1 to 4.
Changes cycles(Format format, const std::vector<double>& weight, const std::vector<double>& change) {
  Changes count;
  std::vector<double> before = weight;
  for (int cycle = 1; cycle <= 4; ++cycle) {
    std::vector<double> after = merge_and_unmerge(format, before, change);
    for (std::size_t i = 0; i < after.size(); ++i)
      (cycle == 1 ? count.first : count.later) += int{after[i] != before[i]};
    before = std::move(after);
  }
  count.weights = static_cast<std::int64_t>(weight.size());
  return count;
}

// All significands of bfloat16 with all changes of that many bits, from 2^-17 to 2^16 times as large, of both signs:
// as rounding does not depend on the scale, these are all pairs of numbers that are neither tiny nor huge, but for
// changes so small or large that one of the two always stays what it is.
Changes all_of_bfloat16(int change_bits) {
  Changes count;
  for (int exponent = -16; exponent <= 16; ++exponent) {
    std::vector<double> weight, change;
    for (std::int64_t d = std::int64_t{1} << (change_bits - 1); d < std::int64_t{1} << change_bits; ++d)
      for (int w = 128; w < 256; ++w)
        for (const double sign : {1.0, -1.0}) {
          weight.push_back(w * 0x1p-8);
          change.push_back(sign * std::ldexp(static_cast<double>(d), exponent - change_bits));
        }
    const Changes here = cycles(Format::bfloat16, weight, change);
    count.weights += here.weights;
    count.first += here.first;
    count.later += here.later;
  }
  return count;
}

// For changes that are numbers of the format this is a theorem (Reiser and Knuth 1975).
TEST(MergeCycles, ChangeBfloat16WeightsInTheFirstOnly) {
  const Changes same_format = all_of_bfloat16(8);
  EXPECT_EQ(same_format.weights, 33 * 128 * 128 * 2);
  EXPECT_GT(same_format.first, same_format.weights / 4);
  EXPECT_EQ(same_format.later, 0);
}

// A change kept in more bits than the weights: measured, all of them.
TEST(MergeCycles, ChangeBfloat16WeightsInTheFirstOnlyWithFinerChanges) {
  for (const int bits : {9, 10}) {
    const Changes finer = all_of_bfloat16(bits);
    EXPECT_GT(finer.first, finer.weights / 4);
    EXPECT_EQ(finer.later, 0);
  }
}

TEST(MergeCycles, OfRandomNumbersChangeInTheFirstOnly) {
  Draws numbers(21);
  std::vector<double> uniform(200000), change(uniform.size());
  for (double& w : uniform) w = numbers.unit() - 0.5;
  for (double& d : change) d = (numbers.unit() - 0.5) * std::exp2(-static_cast<double>(numbers.below(30)));
  for (const Format format : kFormats) {
    std::vector<double> weight = uniform;
    for (double& w : weight) w = round_head_tail(w, 0, format);
    const Changes count = cycles(format, weight, change);
    EXPECT_GT(count.first, 1000) << name_of(format);
    EXPECT_EQ(count.later, 0) << name_of(format);
  }
}

TEST(MergeCycles, RoundEachStepOnce) {
  const auto once = [](Format format, double w, double d) {
    return merge_and_unmerge(format, std::vector<double>{w}, std::vector<double>{d})[0];
  };
  EXPECT_EQ(once(Format::bfloat16, 1, 0x1p-9), 1);         // below half a place: lost, and 1 - 2^-9 is a tie to 1
  EXPECT_EQ(once(Format::bfloat16, 1, 0x1p-7), 1);         // exact both ways
  EXPECT_EQ(once(Format::bfloat16, 1, 256), 0);            // 257 is midway, to 256
  EXPECT_EQ(once(Format::bfloat16, 3, 256), 4);            // 259 is midway, to 260
  EXPECT_EQ(once(Format::bfloat16, 1, 256 + 0x1p-40), 2);  // and 257 + 2^-40 is not: 258, less 256 + 2^-40
  // A place above 1 and half a place more, less 2^-61: the sum's double is the middle, the sum is below it.
  EXPECT_EQ(once(Format::bfloat16, 1 + 0x1p-7, 0x1p-8 - 0x1p-61), 1 + 0x1p-7);
  EXPECT_EQ(once(Format::float32, 1, 256), 1);
  EXPECT_TRUE(std::isinf(once(Format::float16, 65504, 65504)));  // never comes back
  EXPECT_TRUE(std::isnan(once(Format::float32, NAN, 1)));
  EXPECT_THROW(merge_and_unmerge(Format::float32, std::vector<double>(2), std::vector<double>(1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk::reference
