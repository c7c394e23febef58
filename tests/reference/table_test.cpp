// The table against the oracle.
#include "reference/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/reference/judging.hpp"

namespace ropewalk::reference {
namespace {

// Each of two cases, so that they run side by side, judges at least a million values in each format.
class Powers : public testing::TestWithParam<int> {};

TEST_P(Powers, AreCorrectlyRounded) {
  constexpr double kBases[] = {1e4, 1e5, 5e5, 1e6, 1e7};
  constexpr std::int64_t kValues = 1'000'000;
  Draws numbers(static_cast<std::uint64_t>(GetParam()) + 1);
  Tally tally;
  Proof proof;
  SinCos block;
  for (int round = 0; tally.values < kValues; ++round) {
    const double base = round % 2 == 0 ? kBases[numbers.below(5)] : std::pow(10.0, 4 + 3 * numbers.unit());
    const int dim = 20 + 2 * static_cast<int>(numbers.below(119));
    const Table table(Frequencies::powers(base, dim));
    std::vector<ArbReal> thetas = power_reals(base, dim);

    const std::int64_t first = round % 3 == 0 ? numbers.below(4096) : numbers.below(1 << 20);
    const std::int64_t count = 8 + numbers.below(100);
    proof += table.dense(first, count, block);
    tally.check_block(block, positions_from(first, count), thetas);

    std::vector<std::int64_t> positions(50);
    for (auto& position : positions) position = numbers.below(std::int64_t{1} << (1 + numbers.below(40)));
    proof += table.sparse(positions, block);
    tally.check_block(block, positions, thetas);
  }
  tally.expect_right(proof);
  EXPECT_LT(tally.worst_tail, 0x1p-103) << "proved is 2^-100; these inputs gave 2^-103.8 on every instruction set";
}
INSTANTIATE_TEST_SUITE_P(Table, Powers, testing::Values(0, 1));

TEST(Table, HoldsGivenFrequenciesOfEverySize) {
  std::vector<double> frequencies = {0,
                                     1e300,
                                     -1e300,
                                     0x1p-1074,
                                     0x1.fp-1070,
                                     1e-310,
                                     0x1p-1022,
                                     1e-200,
                                     1e-100,
                                     1e-30,
                                     -1e-30,
                                     1e-15,
                                     0x1p-49,
                                     0x1p-27,
                                     0x1p-20,
                                     1,
                                     M_PI,
                                     M_PI / 2,
                                     M_PI / 4,
                                     2 * M_PI,
                                     1e22,
                                     -0.75,
                                     3e-7,
                                     std::nextafter(0x1p-20, 0),
                                     0x1.921fb54442d18p+800};
  Draws numbers(5);
  for (int i = 0; i < 60; ++i)
    frequencies.push_back(std::bit_cast<double>((numbers.next() & ~(1ull << 62)) | (1ull << 61)));
  for (int i = 0; i < 60; ++i) frequencies.push_back(static_cast<float>(std::exp(-14 * numbers.unit())));
  const Table table(Frequencies::given(frequencies));
  std::vector<ArbReal> thetas = exact_reals(frequencies);
  Tally tally;
  SinCos block;
  Proof proof = table.dense(0, 200, block);
  tally.check_block(block, positions_from(0, 200), thetas);
  const std::vector<std::int64_t> far = {1 << 20, (1 << 24) - 1, (std::int64_t{1} << 40) + 12345, kMaxPosition - 1,
                                         kMaxPosition};
  proof += table.sparse(far, block);
  tally.check_block(block, far, thetas);
  proof += table.dense(kMaxPosition - 40, 40, block);
  tally.check_block(block, positions_from(kMaxPosition - 40, 40), thetas);
  tally.expect_right(proof);
  EXPECT_GT(proof.fallback, 0);
}

TEST(Table, HoldsUnusualBases) {
  Tally tally;
  Proof proof;
  SinCos block;
  for (const double base : {1.0, 2.0, 0.5, 1e-300, 1e300, 1 + 0x1p-52, 0x1p-1022}) {
    const Table table(Frequencies::powers(base, 20));
    std::vector<ArbReal> thetas = power_reals(base, 20);
    proof += table.dense(0, 100, block);
    tally.check_block(block, positions_from(0, 100), thetas);
  }
  tally.expect_right(proof);
}

// Decimals that were computed elsewhere, with mpmath; given frequencies are the float32 of their bits.
TEST(Table, AgreesWithPublishedDecimals) {
  struct Known {
    int dim;
    double base;
    int pair;
    std::uint32_t given;  // 0: the power
    std::int64_t position;
    const char *cos, *sin;
  };
  const Known known[] = {
      {128, 1e4, 1, 0, 4095, "-0.742365817610036165665", "0.6699947707588339958275"},
      {128, 1e4, 1, 0x3f5dafd7, 4095, "-0.742447365095089006209", "0.6699044036751509598112"},
      {128, 1e4, 63, 0, 4095, "0.8902588121830825286207", "0.4554549893571998044172"},
      {128, 1e4, 63, 0x38f22ce2, 4095, "0.8902588223120080540933", "0.4554549695586123149832"},
      {128, 5e5, 32, 0, 131071, "-0.9999645581387995459512", "-0.008419172541015105323803"},
      {128, 5e5, 32, 0x3ab95d21, 131071, "-0.9999646864755030449861", "-0.008403915869932161020765"},
      {128, 5e5, 63, 0, 131071, "0.9486683697029160863313", "0.3162725475364741867568"},
      {128, 5e5, 63, 0x3624c2ff, 131071, "0.9486683733855436069741", "0.3162725364903295206031"},
      {128, 1e6, 1, 0, 1048575, "-0.3429188652090561753576", "-0.9393650258998006586401"},
      {128, 1e6, 1, 0x3f4e4bad, 1048575, "-0.3101935645396890286351", "-0.9506734205383896064596"},
      {64, 1e4, 31, 0, 163839, "-0.989811887958402351824", "0.1423812714377250859125"},
      {64, 1e4, 31, 0x390bd472, 163839, "-0.9898120565170653579991", "0.1423800996398647473491"},
  };
  const auto off = [](const char* decimal, double head, double tail) {
    Real x = real(200);
    mpfr_set_str(raw(x), decimal, 10, MPFR_RNDN);
    mpfr_sub_d(raw(x), raw(x), head, MPFR_RNDN);
    mpfr_sub_d(raw(x), raw(x), tail, MPFR_RNDN);
    return std::fabs(mpfr_get_d(raw(x), MPFR_RNDN));
  };
  for (const Known& k : known) {
    const double given = std::bit_cast<float>(k.given);
    const Table table(k.given == 0 ? Frequencies::powers(k.base, k.dim) : Frequencies::given({&given, 1}));
    const std::size_t pair = k.given == 0 ? static_cast<std::size_t>(k.pair) : 0;
    SinCos block;
    table.sparse(std::vector{k.position}, block);
    EXPECT_LE(off(k.cos, block.cos[pair], block.cos_tail[pair]), 1e-21) << k.cos;
    EXPECT_LE(off(k.sin, block.sin[pair], block.sin_tail[pair]), 1e-21) << k.sin;
  }
}

TEST(Table, RefusesPositionsItCannotHold) {
  const Table table(Frequencies::powers(1e4, 64));
  SinCos block;
  EXPECT_THROW(table.dense(-1, 10, block), std::out_of_range);
  EXPECT_THROW(table.dense(0, -1, block), std::out_of_range);
  EXPECT_THROW(table.dense(kMaxPosition, 1, block), std::out_of_range);
  EXPECT_THROW(table.sparse(std::vector<std::int64_t>{0, -1}, block), std::out_of_range);
  EXPECT_NO_THROW(table.dense(0, 0, block));
  EXPECT_EQ(block.rows, 0);
}

TEST(Table, GivesNanForFrequenciesThatAreNotNumbers) {
  const std::vector<double> frequencies = {std::nan(""), INFINITY, -INFINITY, 1};
  const Table table(Frequencies::given(frequencies));
  SinCos block;
  const Proof proof = table.dense(0, 20, block);
  for (std::size_t k = 0; k < block.sin.size(); ++k) {
    EXPECT_EQ(std::isnan(block.sin[k]), k % 4 != 3) << k;
    EXPECT_EQ(std::isnan(block.cos[k]), k % 4 != 3) << k;
  }
  EXPECT_EQ(proof.exact, 20 * 6 + 2);
  EXPECT_EQ(proof.fast, 19 * 2);
}

}  // namespace
}  // namespace ropewalk::reference
