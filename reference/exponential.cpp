#include "reference/exponential.hpp"

#include "reference/real.hpp"

namespace ropewalk::reference {
namespace {

constexpr int kBits = 200;

ExponentialTable make() {
  ExponentialTable t;
  Real x = real(kBits), y = real(kBits);
  for (int i = 0; i < 256; ++i) {
    mpfr_set_d(raw(x), i / 256.0, MPFR_RNDN);
    mpfr_exp2(raw(y), raw(x), MPFR_RNDN);
    t.power[i] = mpfr_get_d(raw(y), MPFR_RNDN);
    mpfr_sub_d(raw(y), raw(y), t.power[i], MPFR_RNDN);
    t.power_tail[i] = mpfr_get_d(raw(y), MPFR_RNDN);
  }
  mpfr_const_log2(raw(x), MPFR_RNDN);
  mpfr_div_2ui(raw(x), raw(x), 8, MPFR_RNDN);
  t.steps = 1 / mpfr_get_d(raw(x), MPFR_RNDN);
  const auto part = [&](int bits) {
    Real leading = real(bits);
    mpfr_set(raw(leading), raw(x), MPFR_RNDN);
    mpfr_sub(raw(x), raw(x), raw(leading), MPFR_RNDN);
    return mpfr_get_d(raw(leading), MPFR_RNDN);
  };
  t.step1 = part(32);
  t.step2 = part(32);
  t.step3 = part(53);
  return t;
}

}  // namespace

const ExponentialTable& exponential_table() {
  static const ExponentialTable table = make();
  return table;
}

}  // namespace ropewalk::reference
