// Bounds of single operations: they hold for float32 operands moved within their own bounds, and are not slack.
#include "harness/recipes/tracked.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ropewalk {
namespace {

constexpr double kUnit = 0x1p-24;
const DocumentedBounds kCpu = make_device("cpu")->bounds(), kCuda = make_device("cuda-math")->bounds();

Tracked known(double value, double error) {
  Tracked t = exactly({value}, DType::float32);
  t.error = {error};
  return t;
}

struct Draw {
  Draw() = default;
  double value = 0, error = 0;
  float moved = 0;  // within the bound, a float
};

// A value, a bound, and a float that the bound allows for.
Draw draw(std::mt19937& random, double low, double high) {
  std::uniform_real_distribution<double> where(low, high), share(-0.9, 0.9);
  Draw d;
  d.value = where(random);
  d.error = std::fabs(d.value) * 8 * kUnit;
  d.moved = static_cast<float>(d.value + d.error * share(random));
  return d;
}

// The largest share of its bound that `f` in float32 reaches against the value over the reals.
template <class Bound, class Float>
double largest_share(Bound bound, Float f, double low = 0.1, double high = 10) {
  std::mt19937 random(1);
  double largest = 0;
  for (int i = 0; i < 20000; ++i) {
    const Draw x = draw(random, low, high), y = draw(random, low, high);
    const Tracked t = bound(known(x.value, x.error), known(y.value, y.error));
    const double error = std::fabs(static_cast<double>(f(x.moved, y.moved)) - t.value[0]);
    largest = std::max(largest, error / t.error[0]);
  }
  return largest;
}

void expect_tight(double share) {
  EXPECT_LE(share, 1);
  EXPECT_GT(share, 0.7) << "the bound would be slack";
}

TEST(Tracked, BoundsOfSumsProductsAndQuotientsHoldAndAreTight) {
  expect_tight(largest_share([](auto x, auto y) { return sum(x, y, 1); }, [](float x, float y) { return x + y; }));
  expect_tight(largest_share([](auto x, auto y) { return sum(x, y, -1); }, [](float x, float y) { return x - y; }));
  expect_tight(largest_share([](auto x, auto y) { return product(x, y); }, [](float x, float y) { return x * y; }));
  expect_tight(largest_share([](auto x, auto y) { return quotient(x, y); }, [](float x, float y) { return x / y; }));
}

TEST(Tracked, ADivisionByAReciprocalRoundsOnceMore) {
  const float three = 3;
  expect_tight(
      largest_share([](auto x, auto) { return divided(x, 3, kCpu); }, [&](float x, float) { return x / three; }));
  expect_tight(largest_share([](auto x, auto) { return divided(x, 3, kCuda); },
                             [&](float x, float) { return x * (1 / three); }));
  const Tracked exact = exactly({5}, DType::float32);
  EXPECT_GT(divided(exact, 3, kCuda).error[0], 1.9 * divided(exact, 3, kCpu).error[0]);
  EXPECT_EQ(divided(exact, 4, kCuda).error[0], 0) << "a power of two divides exactly";
}

TEST(Tracked, WhatIsExactStaysExact) {
  const Tracked x = known(0.7, 1e-8), zero = exactly({0}, DType::float32), half = exactly({0.5}, DType::float32);
  EXPECT_EQ(sum(x, zero, 1).error[0], 1e-8);
  EXPECT_EQ(product(x, zero).error[0], 0);
  EXPECT_EQ(product(x, half).error[0], 0.5e-8);
  EXPECT_EQ(power(exactly({10000}, DType::float32), zero, kCpu).error[0], 0);
}

// The share s of a frequency w and 1 - s of w / f: 1 / ((1 - s) / f + s) falls out of the terms.
TEST(Tracked, ABlendAllowsForMoreWhereItIsSmall) {
  const auto blend = [](double share) {
    const Tracked s = known(share, kUnit), w = known(1e-3, 4e-3 * kUnit);
    const Tracked slow = divided(product(sum(number_beside(1, DType::float32), s, -1), w), 8, kCpu);
    return sum(slow, product(s, w), 1).relative(0) / kUnit;
  };
  EXPECT_GT(blend(0.01), 1.0 / ((1 - 0.01) / 8 + 0.01));
  EXPECT_LT(blend(0.01), 20);
  EXPECT_LT(blend(0.99), 9);
}

TEST(Tracked, AChoiceInDoubtAllowsForBoth) {
  const Tracked a = known(2, 1e-7), b = known(3, 1e-7);
  const auto chosen = [&](double x, double y, double doubt) {
    return selected(known(x, doubt), known(y, doubt), a, b);
  };
  EXPECT_EQ(chosen(1, 2, 0.1).value[0], 2);
  EXPECT_EQ(chosen(1, 2, 0.1).error[0], 1e-7);
  EXPECT_EQ(chosen(2, 1, 0.1).value[0], 3);
  EXPECT_NEAR(chosen(1, 1.1, 0.1).error[0], 1 + 1e-7, 1e-12);
  EXPECT_EQ(chosen(1, 1, 0).value[0], 3) << "not less";
  EXPECT_EQ(chosen(1, 1, 0).error[0], 1e-7) << "both exact: no doubt";
}

TEST(Tracked, AClampForgetsWhatIsBeyondIt) {
  EXPECT_EQ(clamped(known(1.2, 0.1), 0, 1).error[0], 0);
  EXPECT_EQ(clamped(known(1.05, 0.1), 0, 1).error[0], 0.1);
  EXPECT_EQ(clamped(known(1.05, 0.1), 0, 1).value[0], 1);
  EXPECT_EQ(clamped(known(0.5, 0.1), 0, 1).error[0], 0.1);
}

TEST(Tracked, ARunningProductGrowsWithThePairAndHolds) {
  const double exact_ratio = std::pow(10000.0, -2.0 / 128);
  const auto ratio = static_cast<float>(exact_ratio);
  const Tracked t =
      running_product(exactly({1}, DType::float32), known(exact_ratio, std::fabs(ratio - exact_ratio)), 64);
  float value = 1;
  for (std::size_t j = 0; j < 64; ++j, value *= ratio)
    EXPECT_LE(std::fabs(value - t.value[j]), t.error[j] * 1.000001) << j;
  EXPECT_EQ(t.error[0], 0);
  EXPECT_GT(t.relative(63), 60 * kUnit);
  EXPECT_LT(t.relative(63), 130 * kUnit);
}

TEST(Tracked, AnAmplitudeCountsTwiceForTheFunction) {
  const Tracked function = trigonometric(exactly({1}, DType::float32), kCpu);
  const Tracked t = amplified(rounded(function, DType::bfloat16), 1.3465735902799727);
  EXPECT_EQ(t.trig.function_ulp, 7);
  EXPECT_GE(t.trig.roundings.size(), 2U) << "the rounding before it grows too";
  EXPECT_GT(t.trig.relative, 1.9 * kUnit);
  EXPECT_EQ(amplified(function, 2).trig.function_ulp, 3.5) << "doubling is exact";
}

TEST(Tracked, NothingIsSaidWhereThereIsNoBound) {
  Tracked positions = exactly({1}, DType::float32);
  positions.by_position = true;
  const Tracked x = known(2, 0);
  EXPECT_THROW(sum(positions, x, 1), Refused);
  EXPECT_THROW(product(positions, positions), Refused);
  EXPECT_THROW(quotient(x, positions), Refused);
  EXPECT_THROW(power(x, positions, kCpu), Refused);
  EXPECT_THROW(clamped(positions, 0, 1), Refused);
  EXPECT_FALSE(std::isfinite(quotient(x, known(1e-9, 1e-8)).error[0])) << "the divisor may be 0";
  const Tracked zero = exactly({0}, DType::float32);
  EXPECT_FALSE(std::isfinite(quotient(known(1e-9, 1e-8), zero).error[0])) << "of either sign";
  EXPECT_EQ(clamped(quotient(known(-1, 1e-8), zero), 0, 1).error[0], 0) << "negative without end";
}

}  // namespace
}  // namespace ropewalk
