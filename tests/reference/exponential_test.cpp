#include "reference/exponential.hpp"

#include "tests/reference/mpfr_oracle.hpp"

namespace ropewalk::reference {
namespace {

// Largest |got - truth| / size over many arguments.
template <class Evaluate>
double worst_error(const Evaluate& evaluate) {
  Draws draws(17);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    double high = -std::exp2(10 * draws.unit() * (i % 3) - 5) * draws.unit();
    if (i % 16 == 0) high = -static_cast<double>(draws.below(250000)) * 0x1.62e42fefa39efp-9;  // steps of the table
    if (i % 16 == 1) high -= 0x1.62e42fefa39efp-10;
    high = std::max(high, kLeastExponent);
    const double low = high * 0x1p-53 * (draws.unit() - 0.5);
    worst = std::max(worst, evaluate(high, low));
  }
  return worst;
}

Real exact_argument(double high, double low) {
  Real x = real(high, 300);
  mpfr_add_d(raw(x), raw(x), low, MPFR_RNDN);
  return x;
}

TEST(Exponential, IsWithinItsBound) {
  const double worst = worst_error([](double high, double low) {
    Real x = exact_argument(high, low);
    mpfr_exp(raw(x), raw(x), MPFR_RNDN);
    const DoubleDouble e = exponential(high, low, &exponential_table());
    EXPECT_LE(std::fabs(e.low), 0x1p-53 * e.high);
    return std::max(0.0, distance(x, e.high, e.low) - 0x1p-1074) / mpfr_get_d(raw(x), MPFR_RNDD);
  });
  EXPECT_LT(worst, 0x1p-69);
  EXPECT_GT(worst, 0x1p-74);
  std::printf("exponential: 2^%.1f\n", std::log2(worst));
}

TEST(Exponential, SoftCapsAreWithinTheirs) {
  double worst = 0;
  for (const double cap : {0.7, 30.0, 50.0}) {
    const DoubleDouble inverse = {1 / cap, std::fma(-1 / cap, cap, 1) / cap};
    worst = std::max(
        worst, worst_error([&](double high, double low) {
          Real x = exact_argument(-high, -low);
          mpfr_div_d(raw(x), raw(x), cap, MPFR_RNDN);
          mpfr_tanh(raw(x), raw(x), MPFR_RNDN);
          mpfr_mul_d(raw(x), raw(x), cap, MPFR_RNDN);
          EXPECT_LE(distance(x, soft_capped(-high, cap, &exponential_table()), 0), 8 * 0x1p-53 * cap + 0x1p-53 * -high);
          const DoubleDouble y = soft_capped(DoubleDouble{-high, -low}, cap, inverse, &exponential_table());
          return distance(x, y.high, y.low) / cap;
        }));
  }
  EXPECT_LT(worst, 0x1p-67);
  EXPECT_GT(worst, 0x1p-74);
}

}  // namespace
}  // namespace ropewalk::reference
