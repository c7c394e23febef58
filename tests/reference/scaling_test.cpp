// Scaled tables of every kind against Arb.
#include "reference/frequency_rounding.hpp"
#include "tests/reference/judging.hpp"
#include "tests/reference/scaling_oracle.hpp"
#include "tests/reference/scalings.hpp"

namespace ropewalk::reference {
namespace {

constexpr double kForceFallback = 0x1p-20;

struct Problem {
  double base;
  int dim;
  Scaling scaling;
};

// A number of few digits, as people write them, or any.
double between(Draws& draws, double low, double high) {
  const double x = low * std::pow(high / low, draws.unit());
  const int digits = 1 + static_cast<int>(draws.below(4));
  if (digits == 4) return x;
  const double unit = std::pow(10, std::floor(std::log10(x)) - digits + 1);
  return std::round(x / unit) * unit;
}

std::vector<double> factors(Draws& draws, int count) {
  std::vector<double> out;
  for (int j = 0; j < count; ++j) out.push_back(static_cast<float>(between(draws, 1, 64)));
  return out;
}

Problem any(Scaling::Type type, Draws& draws) {
  Problem p{between(draws, 1e3, 1e7), 4 + 2 * static_cast<int>(draws.below(30)), {}};
  const double factor = between(draws, 1.1, 64), original = between(draws, 128, 40000);
  const double length = std::round(original * between(draws, 0.3, 30));
  switch (type) {
    case Scaling::Type::none:
      break;
    case Scaling::Type::linear:
      p.scaling = linear(factor);
      break;
    case Scaling::Type::dynamic:
      p.scaling = dynamic(factor, original, length);
      break;
    case Scaling::Type::yarn:
      p.scaling = yarn(factor, original, draws.below(2) == 0);
      if (draws.below(3) == 0) p.scaling.attention_factor = between(draws, 0.5, 2);
      if (draws.below(2) == 0)
        p.scaling.mscale = between(draws, 0.5, 2), p.scaling.mscale_all_dim = between(draws, 0.5, 2);
      if (draws.below(2) == 0)
        p.scaling.beta_fast = between(draws, 8, 64), p.scaling.beta_slow = between(draws, 0.5, 4);
      break;
    case Scaling::Type::longrope:
      p.scaling = longrope(factor, original, factors(draws, p.dim / 2), factors(draws, p.dim / 2), length);
      if (draws.below(2) == 0) p.scaling.max_position_embeddings = std::round(original * factor);
      break;
    case Scaling::Type::llama3: {
      const double low = between(draws, 0.5, 4);
      p.scaling = llama3(factor, low, low * between(draws, 1.1, 8), original);
      break;
    }
    case Scaling::Type::proportional:
      p.scaling = proportional(between(draws, 0.1, 1), factor);
      break;
  }
  return p;
}

std::vector<std::int64_t> any_positions(Draws& draws, int count) {
  std::vector<std::int64_t> out{0, 1};
  while (static_cast<int>(out.size()) < count) out.push_back(draws.below(std::int64_t{1} << (1 + draws.below(24))));
  return out;
}

class EveryScaling : public testing::TestWithParam<Scaling::Type> {};

TEST_P(EveryScaling, AgreesWithArb) {
  Draws draws(static_cast<std::uint64_t>(GetParam()) + 11);
  Tally tally;
  Proof proof;
  for (int n = 0; n < 16; ++n) {
    const Problem p = any(GetParam(), draws);
    const Table table(Frequencies::scaled(p.base, p.dim, p.scaling), Amplitude::of(p.scaling));
    std::vector<ArbReal> thetas = scaled_reals(p.base, p.dim, p.scaling);
    const ArbReal amplitude = amplitude_real(p.scaling);
    SinCos block;
    const auto sparse = any_positions(draws, 8), dense = positions_from(draws.below(1 << 20), 12);
    proof += table.sparse(sparse, block);
    tally.check_block(block, sparse, thetas, amplitude);
    proof += table.dense(dense.front(), 12, block);
    tally.check_block(block, dense, thetas, amplitude);
  }
  tally.expect_right(proof);
}

TEST_P(EveryScaling, RoundsItsFrequencies) {
  Draws draws(static_cast<std::uint64_t>(GetParam()) + 31);
  std::int64_t wrong = 0, values = 0;
  Proof proof;
  for (int n = 0; n < 24; ++n) {
    const Problem p = any(GetParam(), draws);
    const Frequencies f = Frequencies::scaled(p.base, p.dim, p.scaling);
    std::vector<ArbReal> thetas = scaled_reals(p.base, p.dim, p.scaling);
    for (std::size_t format = 0; format < kFormats.size(); ++format) {
      const auto rounded = rounded_frequencies(f, kFormats[format], proof);
      for (int j = 0; j < f.size(); ++j, ++values) {
        if (f.exact(j)) continue;  // its own test
        wrong += rounded[static_cast<std::size_t>(j)] != truth_of(thetas[static_cast<std::size_t>(j)]).rounded[format];
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(proof.undecided, 0);
  EXPECT_EQ(proof.fast + proof.fallback + proof.exact, values);
}

TEST_P(EveryScaling, IsTheSameByTheFallBack) {
  Draws draws(static_cast<std::uint64_t>(GetParam()) + 51);
  for (int n = 0; n < 3; ++n) {
    const Problem p = any(GetParam(), draws);
    const Frequencies f = Frequencies::scaled(p.base, p.dim, p.scaling);
    const Table fast(f, Amplitude::of(p.scaling)), slow(f, Amplitude::of(p.scaling), kForceFallback);
    const auto positions = any_positions(draws, 6);
    SinCos a, b;
    const Proof quick = fast.sparse(positions, a), forced = slow.sparse(positions, b);
    EXPECT_GE(forced.fallback, 9 * forced.fast);
    EXPECT_EQ(quick.fallback + quick.undecided + forced.undecided, 0);
    EXPECT_EQ(a.sin, b.sin);
    EXPECT_EQ(a.cos, b.cos);
    for (std::size_t k = 0; k < a.cos.size(); ++k) {
      ASSERT_NEAR(a.sin_tail[k], b.sin_tail[k], a.error) << k;
      ASSERT_NEAR(a.cos_tail[k], b.cos_tail[k], a.error) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryScaling,
                         testing::Values(Scaling::Type::none, Scaling::Type::linear, Scaling::Type::dynamic,
                                         Scaling::Type::yarn, Scaling::Type::longrope, Scaling::Type::llama3,
                                         Scaling::Type::proportional));

// All ways to a value give the same one: dense, single rows, streams, formats, given angles.
TEST(ScaledTable, IsTheSameOnEveryPath) {
  const Table table(Frequencies::scaled(1e4, 40, yarn(40, 4096)), Amplitude::of(yarn(40, 4096)));
  constexpr std::int64_t kFirst = 4000, kCount = 200;
  const std::vector<std::int64_t> positions = positions_from(kFirst, kCount);
  SinCos dense, sparse;
  table.dense(kFirst, kCount, dense);
  table.sparse(positions, sparse);
  EXPECT_EQ(dense.cos, sparse.cos);
  EXPECT_EQ(dense.sin, sparse.sin);
  table.for_each_row(kFirst, kCount, [&](std::int64_t position, const double* sin, const double* cos) {
    for (std::size_t j = 0; j < 20; ++j) {
      const std::size_t k = static_cast<std::size_t>(position - kFirst) * 20 + j;
      ASSERT_EQ(sin[j], dense.sin[k]);
      ASSERT_EQ(cos[j], dense.cos[k]);
    }
  });
  std::vector<float> sin(dense.sin.size()), cos(sin);
  const Proof proof = table.fill(Format::float32, kFirst, kCount, sin.data(), cos.data());
  EXPECT_EQ(proof.fast, 2 * 20 * kCount);
  std::vector<double> rounded(cos.size());
  Proof of_rounding;
  round_to(Format::float32, dense.cos, dense.cos_tail, rounded, of_rounding);
  for (std::size_t k = 0; k < cos.size(); ++k) ASSERT_EQ(cos[k], rounded[k]);
}

TEST(GivenAngles, TakeTheAmplitude) {
  Draws draws(5);
  const Amplitude amplitude = Amplitude::of(yarn(32, 4096));
  std::vector<double> angles{0.0, -0.0, 1e-300, 0x1p-40, -0x1p-30, 1e22};
  while (angles.size() < 300) angles.push_back(std::ldexp(draws.unit() - 0.5, static_cast<int>(draws.below(60)) - 10));
  SinCos block;
  const Proof proof =
      sin_cos_of_angles(angles, static_cast<std::int64_t>(angles.size()), 1, block, kRoundingTestError, amplitude);
  Tally tally;
  tally.largest_error = block.error;
  ArbReal of_amplitude = amplitude_real(yarn(32, 4096));
  for (std::size_t k = 0; k < angles.size(); ++k) {
    ArbReal angle = ArbReal::exactly(angles[k]);
    const Claim sin = {block.sin[k], block.sin_tail[k]}, cos = {block.cos[k], block.cos_tail[k]};
    const Judged judged = judge(angle, of_amplitude, 1, sin, cos);
    tally.check(judged.sin, judged.sin_error, sin, "sin " + std::to_string(angles[k]));
    tally.check(judged.cos, judged.cos_error, cos, "cos " + std::to_string(angles[k]));
  }
  tally.expect_right(proof);
  EXPECT_TRUE(std::signbit(block.sin[1])) << "sin(-0) = -0";
  EXPECT_EQ(proof.exact, 4);
  const double bad[] = {std::nan(""), std::numeric_limits<double>::infinity()};
  sin_cos_of_angles(bad, 2, 1, block, kRoundingTestError, amplitude);
  EXPECT_TRUE(std::isnan(block.sin[0]) && std::isnan(block.cos[0]) && std::isnan(block.sin[1]));
}

}  // namespace
}  // namespace ropewalk::reference
