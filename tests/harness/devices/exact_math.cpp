#include "tests/harness/devices/exact_math.hpp"

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace ropewalk::cuda_math {
namespace {

// MPFR keeps constants for each thread, and leaves it to the thread to free them.
struct Constants {
  Constants() = default;
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;
  ~Constants() { mpfr_free_cache(); }
};

// An MPFR number that frees itself.
struct Number {
  explicit Number(float x = 0) {
    thread_local const Constants constants;
    mpfr_init2(value, 200);
    mpfr_set_flt(value, x, MPFR_RNDN);
  }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value); }
  mpfr_t value;
};

void evaluate(Number& result, Function function, float x) {
  const Number argument(x);
  if (function == Function::sin) mpfr_sin(result.value, argument.value, MPFR_RNDN);
  if (function == Function::cos) mpfr_cos(result.value, argument.value, MPFR_RNDN);
}

void evaluate_power(Number& result, float x, float y) {
  mpfr_pow(result.value, Number(x).value, Number(y).value, MPFR_RNDN);
}

double error_of(Number& exact, float got) {
  const int ulp = ulp_exponent(mpfr_get_d(exact.value, MPFR_RNDZ));
  mpfr_sub_d(exact.value, exact.value, got, MPFR_RNDN);
  mpfr_mul_2si(exact.value, exact.value, -ulp, MPFR_RNDN);
  return std::fabs(mpfr_get_d(exact.value, MPFR_RNDN));
}

}  // namespace

float correctly_rounded(Function function, float x) {
  Number result;
  evaluate(result, function, x);
  return mpfr_get_flt(result.value, MPFR_RNDN);
}

float correctly_rounded_power(float x, float y) {
  Number result;
  evaluate_power(result, x, y);
  return mpfr_get_flt(result.value, MPFR_RNDN);
}

double error_in_ulp(Function function, float x, float got) {
  Number exact;
  evaluate(exact, function, x);
  return error_of(exact, got);
}

double power_error_in_ulp(float x, float y, float got) {
  Number exact;
  evaluate_power(exact, x, y);
  return error_of(exact, got);
}

int ulp_exponent(double exact) {
  const int exponent = static_cast<int>((std::bit_cast<std::uint64_t>(exact) >> 52) & 0x7FF) - 1023;
  return std::max(exponent, -126) - 23;
}

std::uint64_t steps_between(float a, float b) {
  const auto ordered = [](float x) {
    const auto magnitude = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFF);
    return std::signbit(x) ? -magnitude : magnitude;
  };
  return static_cast<std::uint64_t>(std::abs(ordered(a) - ordered(b)));
}

}  // namespace ropewalk::cuda_math
