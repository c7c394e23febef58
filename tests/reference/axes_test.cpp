#include "reference/axes.hpp"

#include <gmock/gmock.h>

#include <array>

#include "tests/reference/judging.hpp"
#include "tests/reference/scaling_oracle.hpp"
#include "tests/reference/scalings.hpp"

namespace ropewalk::reference {
namespace {

std::vector<int> axes_of(const std::vector<Column>& columns) {
  std::vector<int> out;
  for (const Column& column : columns) out.push_back(column.axis);
  return out;
}

TEST(Mrope, HasItsSectionsInBlocks) {
  const int sections[] = {16, 24, 24};  // Qwen2-VL
  const auto columns = mrope_columns(sections, false);
  ASSERT_EQ(columns.size(), 64U);
  for (int j = 0; j < 64; ++j)
    EXPECT_EQ(columns[static_cast<std::size_t>(j)], (Column{j < 16 ? 0 : j < 40 ? 1 : 2, j}));
}

TEST(Mrope, HasItsSectionsInterleaved) {
  const int small[] = {4, 2, 1};
  EXPECT_THAT(axes_of(mrope_columns(small, true)), testing::ElementsAre(0, 1, 2, 0, 1, 0, 0));
  const int sections[] = {24, 20, 20};  // Qwen3-VL: pairs 1, 4 .. 58 and 2, 5 .. 59
  const auto axes = axes_of(mrope_columns(sections, true));
  for (int j = 0; j < 64; ++j) EXPECT_EQ(axes[static_cast<std::size_t>(j)], j < 60 ? j % 3 : 0) << j;
  for (int axis = 0; axis < 3; ++axis)
    EXPECT_EQ(std::count(axes.begin(), axes.end(), axis), sections[static_cast<std::size_t>(axis)]);
}

TEST(Mrope, RefusesSectionsThatDoNotFit) {
  const int negative[] = {4, -1}, long_one[] = {1, 1, 4};
  EXPECT_THROW(mrope_columns(negative, false), std::invalid_argument);
  EXPECT_THROW(mrope_columns(long_one, true), std::invalid_argument);
}

// Text has the same position on all axes and so the table of one axis.
TEST(AxisRows, OfEqualPositionsAreTheTable) {
  const Table table(Frequencies::powers(1e6, 128));
  const auto positions = positions_from(1000, 9);
  const std::vector<std::vector<std::int64_t>> three(3, positions);
  const int sections[] = {24, 20, 20};
  SinCos plain, rows;
  table.sparse(positions, plain);
  for (const bool interleaved : {false, true}) {
    axis_rows(table, three, mrope_columns(sections, interleaved), rows);
    EXPECT_EQ(rows.cos, plain.cos);
    EXPECT_EQ(rows.sin, plain.sin);
    EXPECT_EQ(rows.cos_tail, plain.cos_tail);
    EXPECT_EQ(rows.sin_tail, plain.sin_tail);
  }
}

// Every entry judged by Arb, with its own axis and frequency.
TEST(AxisRows, TurnEachPairByItsAxis) {
  const std::vector<std::vector<std::int64_t>> positions{{7, 7, 8}, {0, 1, 300}, {5, 100000, 2}};
  const int sections[] = {4, 2, 2};
  const auto check = [&](const Table& table, const std::vector<Column>& columns, double base, int dim) {
    SinCos rows;
    axis_rows(table, positions, columns, rows);
    Tally tally;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t c = 0; c < columns.size(); ++c) {
        ArbReal theta = ArbReal::power(base, dim, columns[c].pair);
        const std::size_t k = i * columns.size() + c;
        const Claim sin = {rows.sin[k], rows.sin_tail[k]}, cos = {rows.cos[k], rows.cos_tail[k]};
        const auto position = positions[static_cast<std::size_t>(columns[c].axis)][i];
        const Judged judged = judge(theta, position, sin, cos);
        tally.check(judged.sin, judged.sin_error, sin, "sin");
        tally.check(judged.cos, judged.cos_error, cos, "cos");
      }
    EXPECT_EQ(tally.wrong, 0) << tally.first;
  };
  const Table wide(Frequencies::powers(1e6, 16)), half(Frequencies::powers(1e4, 8));
  check(wide, mrope_columns(sections, false), 1e6, 16);
  check(wide, mrope_columns(sections, true), 1e6, 16);
  check(half, axial_columns(4), 1e4, 8);
}

// Scaled frequencies and the amplitude are those of every axis.
TEST(AxisRows, OfScaledFrequenciesHaveTheirAmplitude) {
  const std::vector<std::vector<std::int64_t>> positions{{7, 7, 131071}, {0, 1, 300}, {5, 100000, 2}};
  const int sections[] = {4, 2, 2};
  const std::vector<double> short_list{1, 1, 1.25, 1.5, 2, 2, 3, 4}, long_list{1, 2, 4, 8, 16, 32, 48, 64};
  for (const Scaling& scaling : {linear(3), dynamic(2.5, 4096, 131072), yarn(4, 32768), yarn(3, 262144, false),
                                 llama3(8, 1, 4, 8192), longrope(32, 4096, short_list, long_list, 131072)})
    for (const bool interleaved : {false, true}) {
      const Table table(Frequencies::scaled(1e6, 16, scaling), Amplitude::of(scaling));
      const auto columns = mrope_columns(sections, interleaved);
      std::vector<ArbReal> thetas = scaled_reals(1e6, 16, scaling);
      ArbReal amplitude = amplitude_real(scaling);
      SinCos rows;
      axis_rows(table, positions, columns, rows);
      Tally tally;
      tally.largest_error = rows.error;
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 8; ++j) {
          const std::size_t k = i * 8 + j;
          const Claim sin = {rows.sin[k], rows.sin_tail[k]}, cos = {rows.cos[k], rows.cos_tail[k]};
          const auto position = positions[static_cast<std::size_t>(columns[j].axis)][i];
          const Judged judged = judge(thetas[j], amplitude, position, sin, cos);
          tally.check(judged.sin, judged.sin_error, sin, "sin");
          tally.check(judged.cos, judged.cos_error, cos, "cos");
        }
      EXPECT_EQ(tally.wrong, 0) << tally.first << ", type " << static_cast<int>(scaling.type);
      EXPECT_EQ(tally.values, 2 * 3 * 8);
    }
}

// A table whose frequencies stand there once for each axis is the same rows, also where MPFR has to compute them.
TEST(AxisRows, OfRepeatedFrequenciesAreThoseOfOneHalf) {
  const std::vector<std::vector<std::int64_t>> positions{{0, 3, 45}, {7, 0, 100003}};
  constexpr double kAlwaysFallBack = 0.5;
  constexpr int kTwice[] = {0, 1, 2, 3, 0, 1, 2, 3};
  for (const double error : {kRoundingTestError, kAlwaysFallBack}) {
    const Frequencies once = Frequencies::powers(1e4, 8);
    const Table half(once, error), whole(once.picked(kTwice), error);
    ASSERT_EQ(whole.pairs(), 8);
    std::vector<Column> columns;
    for (int j = 0; j < 8; ++j) columns.push_back({j / 4, j});
    SinCos of_half, of_whole;
    axis_rows(half, positions, axial_columns(4), of_half);
    const Proof proof = axis_rows(whole, positions, columns, of_whole);
    EXPECT_EQ(proof.fallback > 0, error == kAlwaysFallBack);
    EXPECT_EQ(proof.fast + proof.fallback + proof.exact, 2 * 3 * 8);
    EXPECT_EQ(of_half.sin, of_whole.sin);
    EXPECT_EQ(of_half.cos, of_whole.cos);
    EXPECT_EQ(of_half.sin_tail, of_whole.sin_tail);
    EXPECT_EQ(of_half.cos_tail, of_whole.cos_tail);
  }
  const Frequencies powers_of_ten = Frequencies::powers(1e4, 8).picked(kTwice);
  EXPECT_TRUE(powers_of_ten.exact(4));  // 1, again
  EXPECT_EQ(powers_of_ten.at(5, 100).str(20), Frequencies::powers(1e4, 8).at(1, 100).str(20));
  EXPECT_FALSE(powers_of_ten.finite(7));
}

TEST(AxisRows, RefuseWhatDoesNotFit) {
  const Table table(Frequencies::powers(1e4, 8));
  SinCos rows;
  const std::vector<std::vector<std::int64_t>> uneven{{1, 2}, {1}}, one{{1}};
  const Column first[] = {{0, 0}}, other_axis[] = {{1, 0}}, other_pair[] = {{0, 4}};
  EXPECT_THROW(axis_rows(table, uneven, first, rows), std::invalid_argument);
  EXPECT_THROW(axis_rows(table, one, other_axis, rows), std::invalid_argument);
  EXPECT_THROW(axis_rows(table, one, other_pair, rows), std::invalid_argument);
  EXPECT_THROW(table.picked(std::array{4}), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk::reference
