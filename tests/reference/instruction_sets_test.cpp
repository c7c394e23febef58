// The kernel's bits do not depend on the instruction set that the compiler used.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "reference/rows.hpp"
#include "tests/reference/judging.hpp"

namespace ropewalk::reference {
namespace {

struct Inputs {
  std::vector<std::uint64_t> high, low;
};

// Everything that the rows do with one pair, for neighbouring turns; 16 doubles each.
ROPEWALK_INLINE void all_of(const Inputs& in, std::vector<double>& out) {
  const TurnTable& table = turn_table();
  for (std::size_t i = 0; i + 1 < in.high.size(); ++i) {
    double* o = &out[16 * i];
    const SinCosPair a = sin_cos_of_turn(in.high[i], in.low[i], table);
    const SinCosPair b = sin_cos_of_turn(in.high[i + 1], in.low[i + 1], table);
    const SumAndDifference v = rotate(normalised(a.sin), normalised(a.cos), normalised(b.sin), normalised(b.cos));
    std::uint64_t unproven = 0;
    const auto put = [&](DoubleDouble x) {
      const DoubleDouble rounded = round_testing_tail(x, 0x1p-98, unproven);
      *o++ = rounded.high;
      *o++ = rounded.low;
    };
    for (const DoubleDouble& x : {v.sum.sin, v.sum.cos, v.difference.sin, v.difference.cos}) put(x);
    for (const Format format : {Format::float32, Format::bfloat16, Format::float16})
      *o++ = round_double(v.sum.sin.high, format);
    *o++ = round_testing(v.sum.cos, 0x1p-98, unproven);
    *o++ = bfloat16_bits(round_double(v.sum.cos.high, Format::bfloat16));
    *o++ = float16_bits(round_double(v.sum.cos.high, Format::float16));
    *o++ = static_cast<double>(unproven != 0);
  }
}

[[gnu::target("arch=x86-64")]] void baseline(const Inputs& in, std::vector<double>& out) { all_of(in, out); }
[[gnu::target("arch=x86-64-v3")]] void avx2(const Inputs& in, std::vector<double>& out) { all_of(in, out); }
[[gnu::target("arch=x86-64-v4")]] void avx512(const Inputs& in, std::vector<double>& out) { all_of(in, out); }

TEST(InstructionSets, GiveTheSameBits) {
  Draws numbers(41);
  Inputs in;
  for (int i = 0; i < 20000; ++i) {
    in.high.push_back(numbers.next());
    in.low.push_back(numbers.next());
  }
  std::vector<double> expected(16 * in.high.size()), got(expected.size());
  baseline(in, expected);
  const auto same = [&] { return std::memcmp(expected.data(), got.data(), expected.size() * sizeof(double)) == 0; };
  int compared = 0;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    avx2(in, got);
    EXPECT_TRUE(same());
    ++compared;
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    avx512(in, got);
    EXPECT_TRUE(same());
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "this processor has neither AVX2 nor AVX-512";
  // The rows of the library, whichever clone runs here.
  constexpr int kRow = 1000;
  std::vector<double> a(4 * kRow), b(4 * kRow), sum(4 * kRow), difference(4 * kRow);
  const std::vector<double> errors(kRow, 0x1p-98);
  sin_cos_of_turns(in.high.data(), in.low.data(), kRow, errors.data(), {a.data(), kRow});
  sin_cos_of_turns(in.high.data() + 1, in.low.data() + 1, kRow, errors.data(), {b.data(), kRow});
  rotate_rows({a.data(), kRow}, {b.data(), kRow}, kRow, errors.data(), {sum.data(), kRow}, {difference.data(), kRow});
  for (std::size_t j = 0; j < kRow; ++j) {
    for (std::size_t part = 0; part < 4; ++part) {
      ASSERT_EQ(sum[part * kRow + j], expected[16 * j + part]) << j;
      ASSERT_EQ(difference[part * kRow + j], expected[16 * j + 4 + part]) << j;
    }
  }
}

}  // namespace
}  // namespace ropewalk::reference
