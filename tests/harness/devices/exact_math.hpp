// Correctly rounded fp32 values and errors against the exact value, for one argument at a time, by MPFR.
#pragma once

#include <cstdint>

namespace ropewalk::cuda_math {

enum class Function { sin, cos };

// The exact value is taken to 200 bits, then rounded to the nearest float, subnormals too. No sine or cosine of a float
// other than 0 comes near enough to a midpoint of two floats for the first rounding to matter.
float correctly_rounded(Function function, float x);
float correctly_rounded_power(float x, float y);

// |got - exact| in ulp of the exact value.
double error_in_ulp(Function function, float x, float got);
double power_error_in_ulp(float x, float y, float got);

// The exponent of the spacing of floats around a value, at least the smallest subnormal.
int ulp_exponent(double exact);

// How many steps between neighbouring floats lead from a to b; the zeros are one float.
std::uint64_t steps_between(float a, float b);

}  // namespace ropewalk::cuda_math
