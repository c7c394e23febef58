// Every way to the same value gives the same value: blocks, single rows, angles, streams, fall-back, threads.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "reference/fallback.hpp"
#include "reference/table.hpp"
#include "tests/reference/judging.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kForceFallback = 1;  // no double is proved with an error this large

int sign_of(double x) { return (x > 0) - (x < 0); }

void expect_same(const SinCos& a, const SinCos& b) {
  ASSERT_EQ(a.sin.size(), b.sin.size());
  for (std::size_t k = 0; k < a.sin.size(); ++k) {
    ASSERT_EQ(a.sin[k], b.sin[k]) << k;
    ASSERT_EQ(a.cos[k], b.cos[k]) << k;
    ASSERT_NEAR(a.sin_tail[k], b.sin_tail[k], 0x1p-98) << k;
    ASSERT_NEAR(a.cos_tail[k], b.cos_tail[k], 0x1p-98) << k;
    ASSERT_EQ(sign_of(a.sin_tail[k]), sign_of(b.sin_tail[k])) << k;
    ASSERT_EQ(sign_of(a.cos_tail[k]), sign_of(b.cos_tail[k])) << k;
  }
}

TEST(Paths, BlocksEqualSingleRowsWhereverTheyBegin) {
  const Table table(Frequencies::powers(5e5, 22));
  SinCos dense, sparse;
  for (const std::int64_t first : {0L, 1L, 31L, 32L, 33L, 63L, 64L, 65L, 95L, (1L << 20) - 33, 1L << 40}) {
    for (const std::int64_t count : {0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 129}) {
      const Proof a = table.dense(first, count, dense);
      const Proof b = table.sparse(positions_from(first, count), sparse);
      ASSERT_EQ(dense.rows, count);
      ASSERT_EQ(a.fast + a.fallback + a.exact, 2 * 11 * count);
      ASSERT_EQ(b.fast + b.fallback + b.exact, 2 * 11 * count);
      expect_same(dense, sparse);
    }
  }
}

TEST(Paths, StreamsVisitEveryRowOnceWithTheSameHeads) {
  const Table table(Frequencies::powers(1e4, 38));
  SinCos block;
  for (const std::int64_t first : {0L, 5L, 32L, 1000L}) {
    for (const std::int64_t count : {1L, 40L, 200L}) {
      table.dense(first, count, block);
      std::vector<int> visits(static_cast<std::size_t>(count));
      const Proof proof =
          table.for_each_row(first, count, [&](std::int64_t position, const double* sin, const double* cos) {
            const std::int64_t row = position - first;
            ++visits.at(static_cast<std::size_t>(row));
            for (std::int64_t j = 0; j < 19; ++j) {
              EXPECT_EQ(sin[j], block.sin[static_cast<std::size_t>(row * 19 + j)]);
              EXPECT_EQ(cos[j], block.cos[static_cast<std::size_t>(row * 19 + j)]);
            }
          });
      for (const int n : visits) EXPECT_EQ(n, 1);
      EXPECT_EQ(proof.fast + proof.fallback + proof.exact, 2 * 19 * count);
    }
  }
}

TEST(Paths, FilledTablesAreTheRoundedBlocks) {
  std::vector<double> frequencies = {0, 1e-30, 1e-9, 0x1p-1074, 1, 1e22, -3};
  for (const Table& table : {Table(Frequencies::powers(1e6, 54)), Table(Frequencies::given(frequencies))}) {
    constexpr std::int64_t kRows = 300;
    SinCos block;
    table.dense(3, kRows, block);
    const std::size_t n = block.sin.size();
    std::vector<double> expected(n), sin(n), cos(n);
    std::vector<float> sin32(n), cos32(n);
    std::vector<std::uint16_t> sin16(n), cos16(n);
    Proof proof;
    table.fill(Format::float64, 3, kRows, sin.data(), cos.data());
    EXPECT_EQ(sin, block.sin);
    EXPECT_EQ(cos, block.cos);
    table.fill(Format::float32, 3, kRows, sin32.data(), cos32.data());
    round_to(Format::float32, block.cos, block.cos_tail, expected, proof);
    for (std::size_t k = 0; k < n; ++k) ASSERT_EQ(cos32[k], expected[k]);
    table.fill(Format::bfloat16, 3, kRows, sin16.data(), cos16.data());
    round_to(Format::bfloat16, block.sin, block.sin_tail, expected, proof);
    for (std::size_t k = 0; k < n; ++k) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(expected[k])), std::uint32_t{sin16[k]} << 16);
    }
    table.fill(Format::float16, 3, kRows, sin16.data(), cos16.data());
    round_to(Format::float16, block.sin, block.sin_tail, expected, proof);
    for (std::size_t k = 0; k < n; ++k) {
      const int exponent = (sin16[k] >> 10) & 31, fraction = sin16[k] & 1023;
      const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      ASSERT_EQ((sin16[k] & 0x8000) != 0 ? -magnitude : magnitude, expected[k]);
      ASSERT_EQ((sin16[k] & 0x8000) != 0, std::signbit(expected[k]));
    }
  }
}

// Frequencies of few bits times small positions are doubles: then the angles are given exactly too.
TEST(Paths, TablesEqualAnglesWhereTheProductIsExact) {
  Draws numbers(21);
  std::vector<double> frequencies(40);
  for (double& f : frequencies) {
    f = std::ldexp(static_cast<double>(numbers.below(1 << 24)), -24 - static_cast<int>(numbers.below(30)));
  }
  const Table table(Frequencies::given(frequencies));
  SinCos block, of_angles;
  table.dense(100, 500, block);
  std::vector<double> angles;
  for (std::int64_t position = 100; position < 600; ++position) {
    for (const double frequency : frequencies) angles.push_back(frequency * static_cast<double>(position));
  }
  sin_cos_of_angles(angles, 500, 40, of_angles);
  expect_same(block, of_angles);
}

TEST(Paths, TheFallbackAgreesWithTheFastPath) {
  const std::vector<double> given = {1, 1e-30, -0.3, 1e22, 0x1p-19, 0};
  for (const Frequencies& frequencies : {Frequencies::powers(1e4, 20), Frequencies::given(given)}) {
    const Table table(frequencies), slow(frequencies, kForceFallback);
    SinCos block, slow_block;
    table.dense(0, 100, block);
    const Proof proof = slow.dense(0, 100, slow_block);
    EXPECT_EQ(proof.fast, 0);
    EXPECT_EQ(proof.undecided, 0);
    EXPECT_EQ(proof.fallback + proof.exact, 2 * 100 * frequencies.size());
    EXPECT_GT(proof.fallback, 900);
    expect_same(block, slow_block);
    slow.for_each_row(0, 100, [&](std::int64_t position, const double* sin, const double*) {
      for (std::int64_t j = 0; j < frequencies.size(); ++j) {
        EXPECT_EQ(sin[j], block.sin[static_cast<std::size_t>(position * frequencies.size() + j)]);
      }
    });
  }
  const std::vector<double> angles = {1, 2, 1e10, 1e-5, 1e-200};
  SinCos block, slow_block;
  sin_cos_of_angles(angles, 1, 5, block);
  const Proof proof = sin_cos_of_angles(angles, 1, 5, slow_block, kForceFallback);
  EXPECT_EQ(proof.fallback, 10);
  expect_same(block, slow_block);
}

TEST(Paths, TheFallbackIsCorrectlyRounded) {
  const Frequencies frequencies = Frequencies::powers(1e4, 20);
  Draws numbers(22);
  std::vector<std::int64_t> positions(200);
  for (auto& position : positions) position = 1 + numbers.below(1 << 20);
  const Table slow(frequencies, kForceFallback);
  SinCos block;
  const Proof proof = slow.sparse(positions, block);
  EXPECT_EQ(proof.fallback, 200 * 20);
  std::vector<ArbReal> thetas = power_reals(1e4, 20);
  Tally tally;
  tally.check_block(block, positions, thetas);
  tally.expect_right(proof);
}

// MPFR numbers of many precisions in several threads at once.
TEST(Paths, ThreadsDoNotDisturbEachOther) {
  const std::vector<double> given = {1, 1e300, 1e-300, M_PI, 1e100};
  const auto run = [&](SinCos& out) {
    const Table table(Frequencies::given(given), kForceFallback);
    table.dense(0, 20, out);
  };
  SinCos expected;
  run(expected);
  std::vector<SinCos> got(4);
  std::vector<std::thread> threads;
  threads.reserve(got.size());
  for (SinCos& out : got)
    threads.emplace_back([&run, &out] {
      for (int i = 0; i < 5; ++i) run(out);
    });
  for (std::thread& thread : threads) thread.join();
  for (const SinCos& out : got) {
    EXPECT_EQ(out.sin, expected.sin);
    EXPECT_EQ(out.sin_tail, expected.sin_tail);
    EXPECT_EQ(out.cos_tail, expected.cos_tail);
  }
}

}  // namespace
}  // namespace ropewalk::reference
