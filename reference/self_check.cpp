#include "reference/self_check.hpp"

#include <cfenv>

#include "reference/rows.hpp"

namespace ropewalk::reference {
namespace {

// Volatile, so that the compiler can neither compute the answer itself nor see what it is.
bool contracts() {
  const volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30, one = 1;
  return a * b - one != 0;  // the product is 1 - 2^-60, which rounds to 1
}

bool reassociates() {
  const volatile double one = 1, small = 0x1p-60;
  const DoubleDouble sum = two_sum(one, small);
  return sum.high != one || sum.low != small;
}

bool flushes() {
  const volatile double smallest_normal = 0x1p-1022, half = 0.5, smallest = 0x1p-1074, many = 0x1p60;
  return smallest_normal * half == 0 || smallest * many == 0;
}

// The product of float32 numbers, too: the narrow formats pass through float.
bool flushes_float() {
  const volatile double subnormal = 0x1p-140;
  const volatile float narrow = static_cast<float>(subnormal);
  return static_cast<double>(narrow) != 0x1p-140;
}

bool rounds_to_nearest() {
  const volatile double one = 1, less = 0x1.8p-54, more = 0x1.4p-53;
  return std::fegetround() == FE_TONEAREST && one + less == one && one + more == 1 + 0x1p-52 && -one - less == -one;
}

// sin and cos of 1, sin of 1 + 1/64 and cos of 1 - 1/64 by rotation, and their tails, against the bits they should
// have. The heads are correctly rounded values; the tails, whose last bits carry the kernel's own errors, pin its
// operations.
bool kernels_agree() {
  const double angles[2] = {1, 0.015625}, error[2] = {0x1p-98, 0x1p-98};
  std::uint64_t high[2], low[2];
  turns_of_angles(angles, 2, high, low);
  double values[8], sums[4], differences[4];
  sin_cos_of_turns(high, low, 2, error, {values, 2});
  rotate_rows({values, 2}, {values + 1, 2}, 1, error, {sums, 1}, {differences, 1});
  const double expected[] = {0x1.aed548f090ceep-1, 0x1.06374f484e28p-59,   0x1.14a280fb5068cp-1, -0x1.b71edcc9344bcp-55,
                             0x1.b31a50d56de8fp-1, -0x1.4d46c15ba8ea6p-55, 0x1.1b551f2312386p-1, 0x1.a85cdf15867a7p-55};
  const double got[] = {values[0], values[2], values[4], values[6], sums[0], sums[1], differences[2], differences[3]};
  for (int i = 0; i < 8; ++i) {
    if (got[i] != expected[i]) return false;
  }
  return true;
}

}  // namespace

std::string self_check() {
#ifdef __FAST_MATH__
  return "compiled with -ffast-math";
#endif
  if (!rounds_to_nearest()) return "the rounding mode is not to nearest";
  if (flushes() || flushes_float()) return "subnormal numbers are flushed to zero";
  if (contracts()) return "a product and a sum are contracted to one operation: compile with -ffp-contract=off";
  if (reassociates()) return "sums are reassociated: compile without -ffast-math";
  if (!kernels_agree()) return "the kernels of the reference give wrong bits: check the compiler's options";
  return "";
}

}  // namespace ropewalk::reference
