#include "reference/rotation.hpp"

#include "reference/rounding.hpp"
#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

using Doubles = std::vector<double>;

struct Problem {
  Rotation rotation;
  int rows, heads;
  Doubles x, cos, sin;
};

// What pair (first, second) of channels turns into channel i by the angle with index `angle`: written once more,
// plainly.
struct Terms {
  std::size_t own, other, angle;
  bool minus, turns;
};
Terms terms_of(const Rotation& r, int heads, std::size_t i) {
  const auto dim = static_cast<std::size_t>(r.head_dim), half = static_cast<std::size_t>(r.rotary / 2);
  const std::size_t channel = i % dim, row = i / dim / static_cast<std::size_t>(heads);
  if (channel >= 2 * half) return {i, i, 0, false, false};
  const bool split = r.pairing == Pairing::half_split;
  const bool first = split ? channel < half : channel % 2 == 0;
  const std::size_t pair = split ? channel % half : channel / 2, step = split ? half : 1;
  return {i, first ? i + step : i - step, row * half + pair, first != r.conjugate, true};
}

Real truth(const Problem& p, std::size_t i) {
  const Terms t = terms_of(p.rotation, p.heads, i);
  Real value = real(p.x[i], 4500), other = real(4500);
  if (!t.turns) return value;
  mpfr_mul_d(raw(value), raw(value), p.cos[t.angle], MPFR_RNDN);
  mpfr_set_d(raw(other), p.x[t.other], MPFR_RNDN);
  mpfr_mul_d(raw(other), raw(other), t.minus ? -p.sin[t.angle] : p.sin[t.angle], MPFR_RNDN);
  mpfr_add(raw(value), raw(value), raw(other), MPFR_RNDN);
  return value;
}

double as(Format format, double x) { return round_head_tail(x, 0, format); }

Problem random_problem(const Rotation& rotation, Format format, int kind, std::uint64_t seed) {
  Draws draws(seed);
  Problem p{rotation, 4, 3, {}, {}, {}};
  p.x.resize(static_cast<std::size_t>(p.rows * p.heads * rotation.head_dim));
  p.cos.resize(static_cast<std::size_t>(p.rows * rotation.rotary / 2));
  p.sin.resize(p.cos.size());
  for (double& x : p.x) {
    x = draws.normal();
    if (kind == 1) x = std::copysign(std::exp2(20 * x), x);
    if (kind == 2) x = draws.below(3) == 0 ? 0 : std::round(x * 2) / 4;  // many exact results
    x = as(format, x);
    if (!std::isfinite(x)) x = 1;
  }
  for (std::size_t i = 0; i < p.cos.size(); ++i) {
    const double angle = i < 4 ? 0 : 7 * draws.unit();
    p.cos[i] = as(format, kind == 2 ? std::round(std::cos(angle) * 8) / 8 : std::cos(angle));
    p.sin[i] = as(format, kind == 2 ? std::round(std::sin(angle) * 8) / 8 : std::sin(angle));
  }
  return p;
}

const std::vector<Rotation> kRotations = {{16, 16, Pairing::half_split, false}, {16, 16, Pairing::interleaved, false},
                                          {16, 16, Pairing::half_split, true},  {20, 12, Pairing::half_split, false},
                                          {20, 12, Pairing::interleaved, true}, {8, 2, Pairing::half_split, true}};

TEST(Rotation, EnclosesTheExactRotationOfGivenNumbers) {
  Violations violations;
  for (std::size_t r = 0; r < kRotations.size(); ++r) {
    for (const Format format : kAllFormats) {
      for (int kind = 0; kind < 3; ++kind) {
        const Problem p = random_problem(kRotations[r], format, kind, 100 * r + kind);
        Enclosures out;
        rotate_vectors(p.rotation, p.x, p.cos, p.sin, out);
        for (std::size_t i = 0; i < p.x.size(); ++i) violations.check(truth(p, i), 0, out, i, std::to_string(r));
      }
    }
  }
  EXPECT_EQ(violations.violated, 0) << violations.first;
  EXPECT_GT(violations.worst, 0.01);  // a bound that is never approached would hide a wrong one
}

TEST(Rotation, RoundsCorrectlyToEveryFormat) {
  Proof proof;
  for (std::size_t r = 0; r < kRotations.size(); ++r) {
    for (const Format inputs : kAllFormats) {
      for (int kind = 0; kind < 3; ++kind) {
        const Problem p = random_problem(kRotations[r], inputs, kind, 1000 + 100 * r + kind);
        Doubles out(p.x.size());
        for (const Format format : kAllFormats) {
          proof += rotate_rounded(p.rotation, format, p.x, p.cos, p.sin, out);
          for (std::size_t i = 0; i < out.size(); ++i)
            ASSERT_EQ(out[i], rounded_by_quanta(truth(p, i), format)) << r << ' ' << name_of(format) << ' ' << i;
        }
      }
    }
  }
  EXPECT_GT(proof.fast, 0);
  EXPECT_GT(proof.fallback, 0);  // ties
  EXPECT_GT(proof.exact, 0);
}

// x cos - y sin = 1 + 2^-8 and its neighbours: halfway between numbers of bfloat16, and just beside.
TEST(Rotation, DecidesTies) {
  const Rotation rotation{2, 2, Pairing::half_split, false};
  const auto first = [&](double x, double y, double c, double s) {
    const Doubles v = {x, y}, cos = {c}, sin = {s};
    Doubles out(2);
    EXPECT_EQ(rotate_rounded(rotation, Format::bfloat16, v, cos, sin, out).undecided, 0);
    return out[0];
  };
  EXPECT_EQ(first(1, -0x1p-8, 1, 1), 1);
  EXPECT_EQ(first(1 + 0x1p-7, -0x1p-8, 1, 1), 1 + 0x1p-6);
  EXPECT_EQ(first(1 + 0x1p-8, -0x1p-70, 1, 0x1p-70), 1 + 0x1p-7);  // 2^-140 above the middle
  EXPECT_EQ(first(1 + 0x1p-8, 0x1p-70, 1, 0x1p-70), 1);
  EXPECT_EQ(first(3, 1, 0.25, 0.75), 0);
}

TEST(Rotation, ByTheExactTableHoldsForTheRealAngle) {
  constexpr int kDim = 32, kHeads = 2;
  constexpr double kBase = 10000;
  const Table table(Frequencies::powers(kBase, kDim));
  SinCos block;
  const std::vector<std::int64_t> positions = {0, 1, 4095, 131071};
  table.sparse(positions, block);
  Draws draws(7);
  Doubles x(positions.size() * kHeads * kDim);
  for (double& value : x) value = as(Format::float32, draws.normal());
  const Rotation rotation{kDim, kDim, Pairing::half_split, false};
  Enclosures out, back;
  rotate_vectors(rotation, x, cosines(block), sines(block), out);
  rotate_vectors({kDim, kDim, Pairing::half_split, true}, out, cosines(block), sines(block), back);
  Violations turned, returned;
  Real angle = real(300), sin = angle, cos = angle, log = angle;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Terms t = terms_of(rotation, kHeads, i);
    const auto pair = static_cast<long>(t.angle % (kDim / 2));
    mpfr_set_d(raw(log), kBase, MPFR_RNDN);
    mpfr_log(raw(log), raw(log), MPFR_RNDN);
    mpfr_mul_si(raw(log), raw(log), -2 * pair, MPFR_RNDN);
    mpfr_div_si(raw(log), raw(log), kDim, MPFR_RNDN);
    mpfr_exp(raw(angle), raw(log), MPFR_RNDN);
    mpfr_mul_si(raw(angle), raw(angle), positions[t.angle / (kDim / 2)], MPFR_RNDN);
    mpfr_sin_cos(raw(sin), raw(cos), raw(angle), MPFR_RNDN);
    mpfr_mul_d(raw(cos), raw(cos), x[i], MPFR_RNDN);
    mpfr_mul_d(raw(sin), raw(sin), t.minus ? -x[t.other] : x[t.other], MPFR_RNDN);
    mpfr_add(raw(cos), raw(cos), raw(sin), MPFR_RNDN);
    turned.check(cos, 0x1p-200, out, i, "turned");
    returned.check(real(x[i], 60), 0, back, i, "and back");
    ASSERT_LT(out.bound[i], 0x1p-94);
  }
  EXPECT_EQ(turned.violated, 0) << turned.first;
  EXPECT_EQ(returned.violated, 0) << returned.first;
  EXPECT_GT(turned.worst, 1e-4);
}

TEST(Rotation, GivesWhatTheFormulaGivesForInfinityAndNan) {
  const Doubles x = {INFINITY, 1, std::nan(""), 2}, cos = {0.5, 0.5}, sin = {0.5, 0.5};
  Enclosures out;
  rotate_vectors({4, 4, Pairing::interleaved, false}, x, cos, sin, out);
  EXPECT_EQ(out.head[0], INFINITY);
  EXPECT_EQ(out.head[1], INFINITY);
  EXPECT_TRUE(std::isnan(out.head[2]));
  EXPECT_EQ(out.tail[0], 0);
  EXPECT_EQ(out.bound[0], 0);
}

TEST(Rotation, RefusesShapesThatDoNotFit) {
  const Doubles x(8), cos(2), sin(2);
  Enclosures out;
  EXPECT_THROW(rotate_vectors({4, 3, Pairing::half_split, false}, x, cos, sin, out), std::invalid_argument);
  EXPECT_THROW(rotate_vectors({4, 6, Pairing::half_split, false}, x, cos, sin, out), std::invalid_argument);
  EXPECT_THROW(rotate_vectors({3, 2, Pairing::half_split, false}, x, cos, sin, out), std::invalid_argument);
  EXPECT_NO_THROW(rotate_vectors({4, 2, Pairing::half_split, false}, x, cos, sin, out));
}

}  // namespace
}  // namespace ropewalk::reference
