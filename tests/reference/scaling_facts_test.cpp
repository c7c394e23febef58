// Published numbers of models in use.
#include <gtest/gtest.h>

#include <bit>

#include "reference/pair_scales.hpp"
#include "reference/table.hpp"
#include "tests/reference/scalings.hpp"

namespace ropewalk::reference {
namespace {

// The pairs of each band, as "0-28 kept, 29-34 blended, 35-63 divided".
std::string bands(double base, int dim, const Scaling& scaling) {
  const PairScales scales(base, dim, scaling);
  std::string out;
  for (int j = 0, first = 0; j < dim / 2; ++j) {
    if (j + 1 < dim / 2 && scales.band(j) == scales.band(j + 1)) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(first) + "-" + std::to_string(j) + " " +
           std::string(name_of(scales.band(j)));
    first = j + 1;
  }
  return out;
}

double low(double base, int dim, const Scaling& scaling) { return PairScales(base, dim, scaling).ramp()->low(); }
double high(double base, int dim, const Scaling& scaling) { return PairScales(base, dim, scaling).ramp()->high(); }

TEST(YarnRamp, LiesWhereTheModelsHaveIt) {
  EXPECT_EQ(low(1e4, 64, yarn(40, 4096)), 10) << "DeepSeek-V3";
  EXPECT_EQ(high(1e4, 64, yarn(40, 4096)), 23);
  EXPECT_EQ(low(1e4, 128, yarn(16, 4096)), 20) << "Yarn-Llama-2-64k";
  EXPECT_EQ(high(1e4, 128, yarn(16, 4096)), 46);
  EXPECT_EQ(low(1e6, 128, yarn(4, 32768)), 23) << "Qwen2.5";
  EXPECT_EQ(high(1e6, 128, yarn(4, 32768)), 40);
  EXPECT_EQ(low(150000, 64, yarn(32, 4096)), 8) << "gpt-oss, were it cut";
  EXPECT_EQ(high(150000, 64, yarn(32, 4096)), 18);
}

// transformers 4.43 to 4.50 put the length of the scaled model there.
TEST(YarnRamp, LiesByTheOriginalLength) {
  Scaling s = yarn(40, 4096);
  s.max_position_embeddings = 163840;
  EXPECT_EQ(low(1e4, 64, s), 10);
  EXPECT_EQ(high(1e4, 64, s), 23);
  s.original_max_position_embeddings = 163840;
  EXPECT_EQ(low(1e4, 64, s), 23);
}

TEST(YarnRamp, HasItsEndsBetweenPairsWhereItIsNotCut) {
  constexpr double kDigit = 1e-8;
  EXPECT_NEAR(low(150000, 64, yarn(32, 4096, false)), 8.092779116, kDigit / 10) << "gpt-oss";
  EXPECT_NEAR(high(150000, 64, yarn(32, 4096, false)), 17.39802450, kDigit);
  EXPECT_NEAR(low(1e4, 64, yarn(40, 4096, false)), 10.47224081, kDigit);
  EXPECT_NEAR(high(1e4, 64, yarn(40, 4096, false)), 22.51344064, kDigit);
  EXPECT_NEAR(low(1e4, 128, yarn(16, 4096, false)), 20.94448162, kDigit);
  EXPECT_NEAR(high(1e4, 128, yarn(16, 4096, false)), 45.02688127, kDigit);
  EXPECT_NEAR(low(1e6, 128, yarn(4, 32768, false)), 23.59594761, kDigit);
  EXPECT_NEAR(high(1e6, 128, yarn(4, 32768, false)), 39.65088071, kDigit);
}

// Off by 1.8 rad at position 8192 where the ramp of gpt-oss is cut though it should not be.
TEST(YarnRamp, CutWhereItShouldNotBeIsSeenInTheAngle) {
  const Frequencies right = Frequencies::scaled(150000, 64, yarn(32, 4096, false));
  const Frequencies cut = Frequencies::scaled(150000, 64, yarn(32, 4096));
  double off = 0;
  for (int j = 0; j < 32; ++j) off = std::fmax(off, 8192 * std::fabs(right.head(j) - cut.head(j)));
  EXPECT_NEAR(off, 1.8, 0.05);
}

TEST(Llama3, KeepsBlendsAndDivides) {
  EXPECT_EQ(bands(5e5, 128, llama3(8, 1, 4, 8192)), "0-28 kept, 29-34 blended, 35-63 divided") << "3.1-8B";
  EXPECT_EQ(bands(5e5, 64, llama3(32, 1, 4, 8192)), "0-14 kept, 15-17 blended, 18-31 divided") << "3.2-1B";
}

TEST(Llama3, BlendsToThePrintedFrequencies) {
  const Frequencies f = Frequencies::scaled(5e5, 128, llama3(8, 1, 4, 8192));
  const char* const printed[] = {"2.16657076350335860934e-3", "1.37189356776113816040e-3", "8.56751412919632082e-4",
                                 "5.24846160992954670e-4",    "3.12693750384065132e-4",    "1.78507812767996418524e-4"};
  for (int j = 29; j < 35; ++j) EXPECT_TRUE(is_printed(f.at(j, 200), printed[j - 29])) << j;
  const Frequencies w = Frequencies::powers(5e5, 128);
  EXPECT_EQ(f.head(28), w.head(28));
  EXPECT_EQ(f.head(35), w.head(35) / 8);
}

// Without scaling the angle is off by .0098 rad at position 10 and .98 at 1000.
TEST(Llama3, DroppedIsSeenInTheAngle) {
  const Frequencies f = Frequencies::scaled(5e5, 64, llama3(32, 1, 4, 8192)), w = Frequencies::powers(5e5, 64);
  double off = 0;
  for (int j = 0; j < 32; ++j) off = std::fmax(off, w.head(j) - f.head(j));
  EXPECT_NEAR(10 * off, 0.0098, 5e-5);
  EXPECT_NEAR(1000 * off, 0.98, 5e-3);
}

TEST(Amplitude, IsAsPrinted) {
  const auto of = [](const Scaling& s) { return Amplitude::of(s).at(200); };
  EXPECT_TRUE(is_printed(of(yarn(40, 4096)), "1.3688879454113936303"));
  EXPECT_TRUE(is_printed(of(yarn(32, 4096)), "1.3465735902799726547")) << "gpt-oss";
  EXPECT_TRUE(is_printed(of(yarn(128, 4096)), "1.4852")) << "not 2.2058, its square";
  EXPECT_TRUE(is_printed(of(longrope(32, 4096, {}, {}, 0)), "1.190238071423808333")) << "Phi-3";
}

TEST(Amplitude, IsTheRatioOfBothScalesOrWhatIsGiven) {
  Scaling s = yarn(40, 4096);
  s.mscale = 0.707;
  EXPECT_TRUE(is_printed(Amplitude::of(s).at(200), "1.3688879454113936303")) << "one of both does not count";
  s.mscale_all_dim = 1.0;  // g(40, 0.707) / g(40, 1)
  Real ratio = Amplitude::of(s).at(200), other = real(200);
  mpfr_set_str(raw(other), "1.3688879454113936303", 10, MPFR_RNDN);
  mpfr_mul(raw(ratio), raw(ratio), raw(other), MPFR_RNDN);
  EXPECT_TRUE(is_printed(ratio, "1.2608037774058553"));
  s.mscale_all_dim = 0.707;
  EXPECT_TRUE(Amplitude::of(s).is_one()) << "DeepSeek-V2";
  s.attention_factor = 1.0;
  s.factor = 64;
  EXPECT_TRUE(Amplitude::of(s).is_one()) << "not 1.4158883";
  s.attention_factor = 1.25;
  EXPECT_EQ(Amplitude::of(s).head(), 1.25);
}

TEST(Amplitude, OfLongropeComesFromTheRatioOfLengthsWhereThereIsOne) {
  Scaling s = longrope(1, 4096, {}, {}, 0);
  EXPECT_TRUE(Amplitude::of(s).is_one());
  s.max_position_embeddings = 131072;
  EXPECT_TRUE(is_printed(Amplitude::of(s).at(200), "1.190238071423808333"));
}

struct CheckValue {
  int dim;
  double base;
  int pair;
  std::int64_t position;
  const char *cos, *sin;
  float frequency;  // as it is stored; 0: exact
};

TEST(CheckValues, AreTheTables) {
  const CheckValue values[] = {
      {128, 1e4, 1, 4095, "-0.742365817610036165665", "0.6699947707588339958275", 0},
      {128, 1e4, 1, 4095, "-0.742447365095089006209", "0.6699044036751509598112", std::bit_cast<float>(0x3f5dafd7)},
      {128, 1e4, 63, 4095, "0.8902588121830825286207", "0.4554549893571998044172", 0},
      {128, 1e4, 63, 4095, "0.8902588223120080540933", "0.4554549695586123149832", std::bit_cast<float>(0x38f22ce2)},
      {128, 5e5, 32, 131071, "-0.9999645581387995459512", "-0.008419172541015105323803", 0},
      {128, 5e5, 32, 131071, "-0.9999646864755030449861", "-0.008403915869932161020765",
       std::bit_cast<float>(0x3ab95d21)},
      {128, 5e5, 63, 131071, "0.9486683697029160863313", "0.3162725475364741867568", 0},
      {128, 5e5, 63, 131071, "0.9486683733855436069741", "0.3162725364903295206031", std::bit_cast<float>(0x3624c2ff)},
      {128, 1e6, 1, 1048575, "-0.3429188652090561753576", "-0.9393650258998006586401", 0},
      {128, 1e6, 1, 1048575, "-0.3101935645396890286351", "-0.9506734205383896064596",
       std::bit_cast<float>(0x3f4e4bad)},
      {64, 1e4, 31, 163839, "-0.989811887958402351824", "0.1423812714377250859125", 0},
      {64, 1e4, 31, 163839, "-0.9898120565170653579991", "0.1423800996398647473491", std::bit_cast<float>(0x390bd472)}};
  for (const CheckValue& value : values) {
    const double stored = value.frequency;
    const Table table(stored == 0 ? Frequencies::powers(value.base, value.dim) : Frequencies::given({&stored, 1}));
    SinCos block;
    table.sparse({&value.position, 1}, block);
    const std::size_t j = stored == 0 ? static_cast<std::size_t>(value.pair) : 0;
    const auto sum = [](double head, double tail) {
      Real x = real(head, 200);
      mpfr_add_d(raw(x), raw(x), tail, MPFR_RNDN);
      return x;
    };
    EXPECT_TRUE(is_printed(sum(block.cos[j], block.cos_tail[j]), value.cos)) << value.cos;
    EXPECT_TRUE(is_printed(sum(block.sin[j], block.sin_tail[j]), value.sin)) << value.sin;
  }
}

}  // namespace
}  // namespace ropewalk::reference
