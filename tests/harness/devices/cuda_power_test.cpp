#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "harness/devices/cuda_math/bits.hpp"
#include "harness/devices/cuda_math/cuda_math.hpp"
#include "tests/harness/devices/exact_math.hpp"

namespace ropewalk::cuda_math {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest = std::numeric_limits<float>::denorm_min();
constexpr double documented_bound = 4.0;  // ulp, powf in the CUDA C++ Programming Guide's table of fp32 functions

// 2i/D as a division and, as LibTorch does it on CUDA, as a product with the reciprocal of D.
std::vector<float> rope_exponents() {
  std::vector<float> exponents;
  for (const int dim : {20, 32, 64, 80, 96, 100, 128, 160, 192, 256, 512, 1024}) {
    const auto divisor = static_cast<float>(dim);
    for (int i = 0; i < dim; i += 2) {
      exponents.push_back(static_cast<float>(i) / divisor);
      exponents.push_back(static_cast<float>(i) * (1.0F / divisor));
      exponents.push_back(-exponents.back());
    }
  }
  return exponents;
}

// One power of these moves with the reciprocal: that of dimension 96 of a head of 100 with base 1e4.
bool is_undetermined(float base, float exponent) { return base == 1e4F && exponent == 0.96F; }

TEST(CudaPower, RopeExponentsKeepTheDocumentedBoundAndAreDetermined) {
  double worst = 0;
  int wrong = 0;
  int compared = 0;
  for (const float base : {1e4F, 1e5F, 5e5F, 1e6F}) {
    for (const float exponent : rope_exponents()) {
      const Power power = pow(base, exponent);
      const double error = power_error_in_ulp(base, exponent, power.value);
      EXPECT_LE(error, documented_bound) << base << " ^ " << exponent;
      EXPECT_EQ(power.undetermined, is_undetermined(base, exponent)) << base << " ^ " << exponent;
      worst = std::max(worst, error);
      wrong += power.value != correctly_rounded_power(base, exponent) ? 1 : 0;
      ++compared;
    }
  }
  RecordProperty("compared", compared);
  RecordProperty("not_correctly_rounded", wrong);
  RecordProperty("largest_error", std::to_string(worst));
  EXPECT_EQ(wrong, 1063);  // this model's own figure, so that a changed operation is noticed
}

// Every bit pattern of x and of y in [-40, 40], results over the whole range of floats.
TEST(CudaPower, AnyArgumentsKeepTheDocumentedBound) {
  std::mt19937 generator(20240229);
  double worst = 0;
  int undetermined = 0;
  for (int i = 0; i < 20000; ++i) {
    const float x = from_bits(static_cast<std::uint32_t>(generator()) % 0x7F800000U);
    const float y = static_cast<float>(generator()) * 0x1.4p-26F - 40.0F;
    if (x == 0 || y == 0) continue;
    const float exact = correctly_rounded_power(x, y);
    const Power power = pow(x, y);
    undetermined += power.undetermined ? 1 : 0;
    if (std::isinf(exact) || std::isinf(power.value)) {
      EXPECT_GE(std::fmin(exact, power.value), 0x1.FFFFF0p127F) << x << " ^ " << y;
      continue;
    }
    const double error = power_error_in_ulp(x, y, power.value);
    EXPECT_LE(error, documented_bound) << x << " ^ " << y;
    worst = std::max(worst, error);
  }
  RecordProperty("undetermined", undetermined);
  RecordProperty("largest_error", std::to_string(worst));
}

// Nothing but a guard against a change: the bits of a million powers of this model, with logarithms of a million bases.
// The last digits of the logarithm show only where exponents are large.
TEST(CudaPower, FingerprintOfAMillionPowers) {
  std::mt19937 generator(19850101);
  std::uint64_t fingerprint = 0;
  for (std::uint64_t i = 0; i < 1000000; ++i) {
    const float x = from_bits(0x3F000000U + static_cast<std::uint32_t>(generator() % 0x01000000U));  // [0.5, 2)
    const float y = static_cast<float>(generator()) * 0x1p-25F - 64.0F;
    fingerprint += to_bits(pow(x, y).value) * (2 * i + 1);
  }
  EXPECT_EQ(fingerprint, 13753150497226201662U);
}

TEST(CudaPower, SubnormalBases) {
  for (const float x : {smallest, 3 * smallest, 0x1.234p-130F, 0x1.FFFFFCp-127F}) {
    for (const float y : {-0.75F, -0.5F, 0.0625F, 0.5F, 0.9F, 1.0F}) {
      EXPECT_LE(power_error_in_ulp(x, y, pow(x, y).value), documented_bound) << x << " ^ " << y;
    }
  }
  EXPECT_EQ(pow(smallest, 1.0F).value, smallest);
  EXPECT_EQ(pow(2.0F, -149.0F).value, smallest);
  EXPECT_EQ(pow(2.0F, -151.0F).value, 0.0F);
}

struct Special {
  float x;
  float y;
  float power;
};

// C99, 7.12.7.4 and Annex F.9.4.4.
TEST(CudaPower, SpecialCasesOfC99) {
  const Special cases[] = {
      {0.0F, -3.0F, infinity},
      {-0.0F, -3.0F, -infinity},
      {0.0F, -2.0F, infinity},
      {-0.0F, -2.0F, infinity},
      {-0.0F, -2.5F, infinity},
      {0.0F, -infinity, infinity},
      {0.0F, 3.0F, 0.0F},
      {-0.0F, 3.0F, -0.0F},
      {-0.0F, 2.0F, 0.0F},
      {-0.0F, 2.5F, 0.0F},
      {-1.0F, infinity, 1.0F},
      {-1.0F, -infinity, 1.0F},
      {1.0F, nan, 1.0F},
      {1.0F, infinity, 1.0F},
      {1.0F, -7.25F, 1.0F},
      {nan, 0.0F, 1.0F},
      {infinity, -0.0F, 1.0F},
      {0.0F, 0.0F, 1.0F},
      {-8.0F, 0.5F, nan},
      {-8.0F, 1e-20F, nan},
      {0.5F, -infinity, infinity},
      {-2.0F, -infinity, 0.0F},
      {0.5F, infinity, 0.0F},
      {2.0F, infinity, infinity},
      {-infinity, -3.0F, -0.0F},
      {-infinity, -2.0F, 0.0F},
      {-infinity, 3.0F, -infinity},
      {-infinity, 2.0F, infinity},
      {infinity, -1.0F, 0.0F},
      {infinity, 1.0F, infinity},
      {nan, 1.0F, nan},
      {2.0F, nan, nan},
      {-2.0F, 3.0F, -8.0F},
      {-2.0F, 4.0F, 16.0F},
      {-1.0F, 16777216.0F, 1.0F},
      {-1.0F, 16777215.0F, -1.0F},
      {2.0F, 128.0F, infinity},
      {-2.0F, 129.0F, -infinity},
      {2.0F, -200.0F, 0.0F},
      {-2.0F, -201.0F, -0.0F},
      {2.0F, 1e30F, infinity},
      {0.5F, 1e38F, 0.0F},
      {1e30F, 3e38F, infinity},
      {1e30F, -3e38F, 0.0F},
      {2.0F, smallest, 1.0F},
  };
  for (const auto& [x, y, expected] : cases) {
    const Power power = pow(x, y);
    EXPECT_FALSE(power.undetermined) << x << " ^ " << y;
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(power.value)) << x << " ^ " << y;
    } else {
      EXPECT_EQ(to_bits(power.value), to_bits(expected)) << x << " ^ " << y << " = " << power.value;
    }
  }
}

// Where an ulp of the reciprocal moves the result, an array says how often, as the scalars do.
TEST(CudaPower, ArraysEqualScalarsAndCountTheUndetermined) {
  std::vector<float> y;
  y.reserve(5000);
  for (int i = 0; i < 5000; ++i) y.push_back(static_cast<float>(i) * 0.0371F - 90.0F);
  std::size_t all = 0;
  for (const float base : {1.7F, 0.83F, 10000.0F, -3.0F, 0.0F}) {
    std::vector<float> out(y.size());
    std::vector<float> in_place = y;
    const std::size_t undetermined = pow(base, y, out);
    EXPECT_EQ(pow(base, in_place, in_place), undetermined);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Power one = pow(base, y[i]);
      expected += one.undetermined ? 1U : 0U;
      EXPECT_TRUE(to_bits(out[i]) == to_bits(one.value) || (std::isnan(out[i]) && std::isnan(one.value)));
      EXPECT_TRUE(to_bits(in_place[i]) == to_bits(out[i]) || (std::isnan(out[i]) && std::isnan(in_place[i])));
    }
    EXPECT_EQ(undetermined, expected) << base;
    all += undetermined;
  }
  RecordProperty("undetermined", static_cast<int>(all));
  EXPECT_GT(all, 0U);  // else this test compares zeros
}

}  // namespace
}  // namespace ropewalk::cuda_math
