// Where scalings are nothing, exact, or not defined.
#include "reference/frequency_rounding.hpp"
#include "reference/pair_scales.hpp"
#include "tests/reference/judging.hpp"
#include "tests/reference/scaling_oracle.hpp"
#include "tests/reference/scalings.hpp"

namespace ropewalk::reference {
namespace {

std::vector<double> heads(const Frequencies& f) {
  std::vector<double> out;
  for (int j = 0; j < f.size(); ++j) out.push_back(f.head(j));
  return out;
}

void expect_unscaled(double base, int dim, const Scaling& scaling) {
  const Frequencies f = Frequencies::scaled(base, dim, scaling), plain = Frequencies::powers(base, dim);
  for (int j = 0; j < f.size(); ++j) {
    EXPECT_EQ(f.head(j), plain.head(j)) << j;
    EXPECT_EQ(f.tail(j), plain.tail(j)) << j;
    EXPECT_TRUE(f.algebraic(j));
  }
}

TEST(ScaledFrequencies, AreThePlainOnesForFactor1) {
  expect_unscaled(1e4, 64, linear(1));
  expect_unscaled(1e4, 64, yarn(1, 4096));
  expect_unscaled(1e4, 64, yarn(1, 4096, false));
  expect_unscaled(5e5, 64, llama3(1, 1, 4, 8192));
  expect_unscaled(1e4, 64, longrope(1, 4096, std::vector<double>(32, 1.0), {}, 10));
  expect_unscaled(1e4, 64, proportional(1));
}

// Original length 4, as in the field: nothing changes up to it, and each length above has a base of its own.
TEST(Dynamic, ChangesOnlyAboveTheLengthOfTraining) {
  const auto at = [](double length) { return heads(Frequencies::scaled(1e4, 8, dynamic(2, 4, length))); };
  const auto plain = heads(Frequencies::powers(1e4, 8));
  EXPECT_EQ(at(3), plain);
  EXPECT_EQ(at(4), plain);
  EXPECT_EQ(at(0), plain);
  EXPECT_NE(at(5), plain);
  EXPECT_NE(at(6), at(5));
  EXPECT_EQ(at(5)[0], 1);
  EXPECT_LT(at(6)[3], at(5)[3]);
}

TEST(Longrope, TakesTheLongListOnlyAboveTheOriginalLength) {
  const auto second = [](double length) {
    return Frequencies::scaled(1e4, 4, longrope(8, 4, {1, 2}, {1, 16}, length)).head(1);
  };
  EXPECT_EQ(second(3), 0.01 / 2);
  EXPECT_EQ(second(4), 0.01 / 2) << "at exactly the original length";
  EXPECT_EQ(second(5), 0.01 / 16);
}

TEST(Llama3, HasNoBlendWhereBothFactorsAreEqual) {
  const PairScales scales(5e5, 128, llama3(16, 1, 1, 8192));  // Llama 4 Scout
  int divided = 0;
  for (int j = 0; j < 64; ++j) {
    EXPECT_NE(scales.band(j), Band::blended);
    divided += scales.band(j) == Band::divided ? 1 : 0;
  }
  EXPECT_EQ(divided, 64 - 35);
}

TEST(Proportional, LeavesTheOtherPairsStill) {
  const Frequencies f = Frequencies::scaled(1e6, 256, proportional(0.25));
  EXPECT_EQ(f.head(31), Frequencies::powers(1e6, 256).head(31));
  EXPECT_EQ(f.head(32), 0);
  EXPECT_TRUE(f.exact(127));
  const Table table(f);
  SinCos block;
  const Proof proof = table.dense(0, 40, block);
  EXPECT_EQ(block.cos[39 * 128 + 100], 1);
  EXPECT_EQ(block.sin[39 * 128 + 100], 0);
  EXPECT_EQ(proof.exact, 2 * (128 + 39 * 96));
  EXPECT_EQ(Frequencies::scaled(1e6, 16, proportional(0.5, 8)).head(0), 0.125);
}

// Numbers with finitely many binary digits that no single power of two is.
TEST(ScaledFrequencies, KnowTheirFiniteNumbers) {
  const auto value = [](const Frequencies& f, int j) {
    const auto finite = f.finite(j);
    return finite ? mpfr_get_d(raw(*finite), MPFR_RNDN) : -1.0;
  };
  const Frequencies eighth = Frequencies::scaled(65536, 8, linear(8));
  for (int j = 0; j < 4; ++j) {
    EXPECT_TRUE(eighth.exact(j));
    EXPECT_EQ(value(eighth, j), std::ldexp(1, -4 * j - 3));
  }
  EXPECT_EQ(value(Frequencies::scaled(65536, 8, linear(3)), 1), -1);
  EXPECT_EQ(value(Frequencies::scaled(65536, 6, linear(8)), 1), -1) << "2^(-16/3)";
  EXPECT_EQ(value(Frequencies::scaled(0x1p50, 4, linear(0.5)), 1), 0x1p-24);

  // A ramp in quarters and factor 2: shares of 3/4 and so on of a power of two.
  const Scaling ramp = yarn(2, 4096);
  const PairScales scales(65536, 32, ramp);
  const Frequencies blended = Frequencies::scaled(65536, 32, ramp);
  int found = 0;
  for (int j = 0; j < 16; ++j) {
    const double share =
        std::clamp((j - scales.ramp()->low()) / (scales.ramp()->high() - scales.ramp()->low()), 0.0, 1.0);
    const double expected = std::ldexp(1 - share / 2, -j);
    if (value(blended, j) == -1) continue;
    EXPECT_EQ(value(blended, j), expected);
    found += scales.band(j) == Band::blended ? 1 : 0;
  }
  EXPECT_GT(found, 0);

  // base 9: its root 3 divides what is left of the factor.
  EXPECT_EQ(value(Frequencies::scaled(9, 4, linear(1)), 1), -1) << "1/3";
  // Dynamic: the stretch 2 * 7 / 6 - 1 = 4/3, so that 2^-10 * 3/4 is finite.
  const Frequencies stretched = Frequencies::scaled(0x1p20, 4, dynamic(2, 6, 7));
  EXPECT_TRUE(stretched.exact(1));
  EXPECT_EQ(value(stretched, 1), 0x1.8p-11);
  EXPECT_EQ(value(Frequencies::scaled(0x1p20, 4, dynamic(2, 6, 8)), 1), -1) << "the stretch is 5/3";
  EXPECT_EQ(value(Frequencies::scaled(9, 4, dynamic(2, 6, 7)), 1), 0.25) << "the root 3 of the base divides 3/4";
  EXPECT_EQ(value(Frequencies::scaled(3, 4, dynamic(2, 6, 7)), 1), -1) << "sqrt(3)/4 of a finite number";
}

// A midpoint of float32 is rounded to even without a search that has no end.
TEST(ScaledFrequencies, RoundTiesToEven) {
  Proof proof;
  const auto half = rounded_frequencies(Frequencies::scaled(0x1p48, 4, linear(2)), Format::float16, proof);
  EXPECT_EQ(half[1], 0) << "2^-25 lies midway between 0 and 2^-24";
  EXPECT_EQ(proof.exact, 2);
  EXPECT_EQ(proof.midpoints, 1);
}

TEST(Amplitude, NextToOneIsNotOne) {
  Scaling s = yarn(1, 4096);
  s.attention_factor = 1 + 0x1p-24;  // a midpoint of float32
  const Table table(Frequencies::scaled(1e4, 8, s), Amplitude::of(s));
  SinCos block;
  const auto positions = positions_from(0, 40);
  const Proof proof = table.dense(0, 40, block);
  EXPECT_EQ(block.cos[0], 1 + 0x1p-24);
  EXPECT_EQ(block.cos_tail[0], 0);
  Tally tally;
  std::vector<ArbReal> thetas = scaled_reals(1e4, 8, s);
  tally.check_block(block, positions, thetas, amplitude_real(s));
  tally.expect_right(proof);
  std::vector<float> sin(block.sin.size()), cos(sin);
  table.fill(Format::float32, 0, 40, sin.data(), cos.data());
  EXPECT_EQ(cos[0], 1) << "ties to even";
}

// sqrt(1 + ln 64 / ln 4) = 2: a logarithm of a logarithm that is exact, and no tie is looked for in vain.
TEST(Amplitude, OfLongropeCanBeFinite) {
  const auto of = [](double factor, double original) { return Amplitude::of(longrope(factor, original, {}, {}, 0)); };
  EXPECT_TRUE(of(64, 4).exact());
  EXPECT_EQ(of(64, 4).head(), 2);
  EXPECT_EQ(of(32, 16).head(), 1.5) << "sqrt(1 + 5/4)";
  EXPECT_TRUE(of(32, 16).exact());
  EXPECT_FALSE(of(32, 4096).exact()) << "sqrt(17/12)";
  EXPECT_FALSE(of(64.0 + 0x1p-40, 4).exact());
  EXPECT_TRUE(of(0.5, 4).is_one());
}

TEST(Amplitude, OfPositionZeroIsItself) {
  const Amplitude amplitude = Amplitude::of(yarn(128, 4096));
  const Table table(Frequencies::scaled(1e4, 8, yarn(128, 4096)), amplitude);
  SinCos block;
  const Proof proof = table.dense(0, 1, block);
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_EQ(block.cos[j], amplitude.head());
    EXPECT_EQ(block.cos_tail[j], amplitude.tail());
    EXPECT_EQ(block.sin[j], 0);
  }
  EXPECT_EQ(proof.exact, 8);
  EXPECT_NEAR(block.cos[0], 1.4852, 5e-5);
}

TEST(ScaledFrequencies, AreNotDefinedForEverything) {
  const auto refused = [](double base, int dim, const Scaling& s) {
    try {
      Frequencies::scaled(base, dim, s);
      Amplitude::of(s);
      return false;
    } catch (const std::invalid_argument&) {
      return true;
    }
  };
  EXPECT_TRUE(refused(1e4, 64, linear(0)));
  EXPECT_TRUE(refused(1e4, 64, linear(std::nan(""))));
  EXPECT_TRUE(refused(1e4, 2, dynamic(2, 4, 8))) << "dim - 2 is 0";
  EXPECT_FALSE(refused(1e4, 8, dynamic(0.25, 4, 16)));
  EXPECT_TRUE(refused(1e4, 8, dynamic(-2, 4, 16)));
  EXPECT_TRUE(refused(1, 64, yarn(4, 4096))) << "ln 1 = 0";
  EXPECT_TRUE(refused(1e4, 64, yarn(4, 0)));
  EXPECT_TRUE(refused(1e4, 64, llama3(8, 4, 1, 8192)));
  EXPECT_TRUE(refused(1e4, 64, longrope(8, 4096, std::vector<double>(31, 1.0), {}, 10))) << "one for each pair";
  EXPECT_TRUE(refused(1e4, 4, longrope(8, 4096, {1, 0}, {}, 10)));
  EXPECT_TRUE(refused(1e4, 4, longrope(8, 0.5, {1, 1}, {1, 1}, 10))) << "ln of the length is negative";
  EXPECT_TRUE(refused(1e-300, 8, linear(1e-300))) << "beyond float64";
  Scaling s = yarn(4, 4096);
  s.attention_factor = -1;
  EXPECT_TRUE(refused(1e4, 64, s));
}

// Thresholds that no double can be, but come near: the band changes with the last bit of the bound.
TEST(Llama3, DecidesNextToAThreshold) {
  const double turns = 8192 / 6.283185307179586;  // of pair 0, rounded
  const double below = std::nextafter(turns, 0), above = std::nextafter(turns, HUGE_VAL);
  const PairScales kept(5e5, 8, llama3(8, 1, std::nextafter(below, 0), 8192));
  const PairScales not_kept(5e5, 8, llama3(8, 1, std::nextafter(above, HUGE_VAL), 8192));
  EXPECT_EQ(kept.band(0), Band::kept);
  EXPECT_EQ(not_kept.band(0), Band::blended);
}

}  // namespace
}  // namespace ropewalk::reference
