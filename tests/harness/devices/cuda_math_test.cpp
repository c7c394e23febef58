#include "harness/devices/cuda_math/cuda_math.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "tests/harness/devices/changed_sine.hpp"
#include "tests/harness/devices/sine_figures.hpp"
#include "tests/harness/devices/sine_survey.hpp"

namespace ropewalk::cuda_math {
namespace {

using ::testing::IsEmpty;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest = std::numeric_limits<float>::denorm_min();
constexpr float largest = std::numeric_limits<float>::max();

const nlohmann::json& figures() {
  static const nlohmann::json all = read_figures(ROPEWALK_TEST_DIR "/harness/devices/cuda_math_figures.json");
  return all;
}

Surveys sampled(const ArrayFunction& sine, const ArrayFunction& cosine) {
  return survey(sine, cosine, figures().at("sampled").at("stride").get<std::uint32_t>(),
                std::max(1U, std::thread::hardware_concurrency()));
}

TEST(CudaSine, SampledFloatsMeetTheStoredFigures) {
  const Surveys found = sampled([](auto in, auto out) { sin(in, out); }, [](auto in, auto out) { cos(in, out); });
  EXPECT_THAT(deviations(found.sin, Function::sin, figures().at("sampled").at("sin")), IsEmpty());
  EXPECT_THAT(deviations(found.cos, Function::cos, figures().at("sampled").at("cos")), IsEmpty());
}

TEST(CudaSine, LargestErrorsArePlacedWhereAGpuHasThem) {
  for (const auto& [name, function, value] : {std::tuple(
                                                  "sin", Function::sin, +[](float x) { return sin(x); }),
                                              std::tuple(
                                                  "cos", Function::cos, +[](float x) { return cos(x); })}) {
    const nlohmann::json& published = figures().at("published").at(name);
    const float x = float_of(published.at("at"));
    EXPECT_EQ(to_bits(value(x)), to_bits(float_of(published.at("result")))) << name;
    EXPECT_NEAR(error_in_ulp(function, x, value(x)), std::stod(published.at("largest_error").get<std::string>()), 5e-5);
  }
}

TEST(CudaSine, EightCosinesAreTwoFloatsAway) {
  const nlohmann::json& places = figures().at("exhaustive").at("cos").at("two_or_more_away_at");
  ASSERT_EQ(places.size(), figures().at("published").at("cos").at("two_or_more_away").get<std::size_t>());
  for (const nlohmann::json& place : places) {
    const float x = float_of(place);
    EXPECT_EQ(steps_between(cos(x), correctly_rounded(Function::cos, x)), 2U) << place;
  }
}

TEST(CudaSine, SpecialValues) {
  for (const float x : {0.0F, smallest, 0x1p-127F, 0x1.8p-126F, 0x1p-30F}) {
    EXPECT_EQ(to_bits(sin(x)), to_bits(x)) << x;
    EXPECT_EQ(to_bits(sin(-x)), to_bits(-x)) << x;
    EXPECT_EQ(cos(x), 1.0F);
    EXPECT_EQ(cos(-x), 1.0F);
  }
  for (const float x : {infinity, -infinity, nan}) {
    EXPECT_TRUE(std::isnan(sin(x)));
    EXPECT_TRUE(std::isnan(cos(x)));
  }
  EXPECT_LT(error_in_ulp(Function::sin, largest, sin(largest)), 1.5);
  EXPECT_LT(error_in_ulp(Function::cos, largest, cos(largest)), 1.5);
}

TEST(CudaSine, SignsAreMirrored) {
  for (std::uint32_t bits = 0; bits < 0x7F800000; bits += 99991) {
    const float x = from_bits(bits);
    ASSERT_EQ(to_bits(sin(-x)), to_bits(-sin(x))) << x;
    ASSERT_EQ(to_bits(cos(-x)), to_bits(cos(x))) << x;
  }
}

// Lengths around the vector and the block size; ordinary, large and special arguments side by side; in place too.
TEST(CudaSine, ArraysEqualScalars) {
  for (const std::size_t length : {0U, 1U, 3U, 15U, 16U, 17U, 511U, 512U, 513U, 1500U}) {
    std::vector<float> x(length);
    for (std::size_t i = 0; i < length; ++i) x[i] = from_bits(static_cast<std::uint32_t>(i * 2654435761U));
    if (length > 3) x[3] = infinity;
    for (int pass = 0; pass < 2; ++pass) {  // all bit patterns first, then only arguments of the fast path
      std::vector<float> sines(length);
      std::vector<float> cosines = x;
      sin(x, sines);
      cos(cosines, cosines);
      for (std::size_t i = 0; i < length; ++i) {
        EXPECT_TRUE(to_bits(sines[i]) == to_bits(sin(x[i])) || (std::isnan(sines[i]) && std::isnan(sin(x[i])))) << x[i];
        EXPECT_TRUE(to_bits(cosines[i]) == to_bits(cos(x[i])) || (std::isnan(cosines[i]) && std::isnan(cos(x[i]))))
            << x[i];
        x[i] = static_cast<float>(i) * 61.7F - 5000.0F;
      }
    }
  }
  std::vector<float> two(2);
  std::vector<float> three(3);
  EXPECT_THROW(sin(two, three), std::invalid_argument);
}

// Compiled here for any x86-64, and so with libm's FMA, as the clone for old processors is. Same bits.
template <std::uint32_t shift>
void without_fma_instructions(std::span<const float> in, std::span<float> out) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = sine(in[i], shift);
}

TEST(CudaSine, WithoutFmaInstructionsTheSame) {
  const Surveys found = sampled(without_fma_instructions<0>, without_fma_instructions<1>);
  EXPECT_THAT(deviations(found.sin, Function::sin, figures().at("sampled").at("sin")), IsEmpty());
  EXPECT_THAT(deviations(found.cos, Function::cos, figures().at("sampled").at("cos")), IsEmpty());
}

// The counts are what is known of a GPU, so it is they that a changed operation must move.
template <Change change>
void expect_other_counts(const char* what, int index) {
  const Surveys found = sampled(changed_functions<change>[0], changed_functions<change>[1]);
  const nlohmann::json& stored = figures().at("sampled");
  EXPECT_TRUE(found.sin.not_correctly_rounded != stored.at("sin").at("not_correctly_rounded") ||
              found.cos.not_correctly_rounded != stored.at("cos").at("not_correctly_rounded"))
      << what << ' ' << index;
}

template <int... index>
void split_fmas(std::integer_sequence<int, index...> /*which*/) {
  (expect_other_counts<Change{.split_fma = index}>("split fma", index), ...);
}

template <int... index>
void flip_constants(std::integer_sequence<int, index...> /*which*/) {
  (expect_other_counts<Change{.flipped_constant = index}>("flipped constant", index), ...);
}

// Left out: 6 and 8 add zero or multiply by -1, so a split is no change; 2 changes no float's sine or cosine; 3 is
// rare.
TEST(CudaSineChanged, SplitFmasMoveTheCounts) { split_fmas(std::integer_sequence<int, 0, 1, 4, 5, 7>{}); }

// Left out: 3 changes no float's sine or cosine; 4 and 11 are rare.
TEST(CudaSineChanged, FlippedConstantsMoveTheCounts) {
  flip_constants(std::integer_sequence<int, 0, 1, 2, 5, 6, 7, 8, 9, 10>{});
}

TEST(CudaSineChanged, QuadrantsMoveTheCounts) {
  expect_other_counts<Change{.quadrant_offset = 1}>("quadrant", 1);
  expect_other_counts<Change{.quadrant_offset = 2}>("quadrant", 2);
  expect_other_counts<Change{.truncate_slow = true}>("truncated quadrant", 0);
}

template <Change change>
void expect_rare(const char* name) {
  const nlohmann::json& places = figures().at("rare").at(name);
  ASSERT_FALSE(places.empty());
  for (const nlohmann::json& place : places) {
    const float x = float_of(place.at("at"));
    EXPECT_EQ(to_bits(sin(x)), to_bits(float_of(place.at("sin")))) << name << ' ' << place;
    EXPECT_EQ(to_bits(cos(x)), to_bits(float_of(place.at("cos")))) << name << ' ' << place;
    EXPECT_TRUE(sine<change>(x, 0) != sin(x) || sine<change>(x, 1) != cos(x)) << name << ' ' << place;
  }
}

// Changes that a sample misses, at some of the few places where they show. The exhaustive counts see all three.
TEST(CudaSineChanged, RareChangesShowAtTheirPlaces) {
  expect_rare<Change{.split_fma = 3}>("split_fma_3");
  expect_rare<Change{.flipped_constant = 4}>("flipped_constant_4");
  expect_rare<Change{.flipped_constant = 11}>("flipped_constant_11");
}

}  // namespace
}  // namespace ropewalk::cuda_math
