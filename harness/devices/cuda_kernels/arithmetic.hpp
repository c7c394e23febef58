// The operations that kernel bodies are written in. Each rounds once and is never fused with another: on a GPU they are
// CUDA's intrinsics, on the host IEEE's operations (-ffp-contract=off) and the model of CUDA's functions. So one source
// line of a body means the same arithmetic on both.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/devices/cuda_math/cuda_math.hpp"
#include "harness/tensors/half.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define ROPEWALK_BODY __host__ __device__ inline
#else
#define ROPEWALK_BODY inline
#endif

namespace ropewalk::kernels {

struct SineCosine {
  float sine, cosine;
};

#ifdef __CUDA_ARCH__
#define ROPEWALK_EITHER(on_gpu, on_host) return on_gpu
#else
#define ROPEWALK_EITHER(on_gpu, on_host) return on_host
#endif

ROPEWALK_BODY float multiply(float a, float b) { ROPEWALK_EITHER(__fmul_rn(a, b), a * b); }
ROPEWALK_BODY float add(float a, float b) { ROPEWALK_EITHER(__fadd_rn(a, b), a + b); }
ROPEWALK_BODY float subtract(float a, float b) { ROPEWALK_EITHER(__fsub_rn(a, b), a - b); }
ROPEWALK_BODY float fused(float a, float b, float c) { ROPEWALK_EITHER(__fmaf_rn(a, b, c), std::fma(a, b, c)); }
ROPEWALK_BODY double multiply(double a, double b) { ROPEWALK_EITHER(__dmul_rn(a, b), a * b); }
ROPEWALK_BODY double subtract(double a, double b) { ROPEWALK_EITHER(__dsub_rn(a, b), a - b); }
ROPEWALK_BODY double fused(double a, double b, double c) { ROPEWALK_EITHER(__fma_rn(a, b, c), std::fma(a, b, c)); }
ROPEWALK_BODY double nearest_integer(double x) { ROPEWALK_EITHER(::rint(x), std::nearbyint(x)); }  // ties to even
ROPEWALK_BODY float to_float(double x) { ROPEWALK_EITHER(__double2float_rn(x), static_cast<float>(x)); }

#undef ROPEWALK_EITHER

// CUDA's precise functions; on the host their model, bit for bit (docs/cuda_math.md).
ROPEWALK_BODY SineCosine sine_cosine(float x) {
#ifdef __CUDA_ARCH__
  SineCosine out;
  sincosf(x, &out.sine, &out.cosine);
  return out;
#else
  return {cuda_math::sin(x), cuda_math::cos(x)};
#endif
}

// Of pi x, |x| <= 1. CUDA's sincospif is not modelled: the host's stand-in is another one, far within CUDA's documented
// bound of 1 ulp (older editions: 2) but not its bits.
ROPEWALK_BODY SineCosine sine_cosine_pi(float x) {
#ifdef __CUDA_ARCH__
  SineCosine out;
  sincospif(x, &out.sine, &out.cosine);
  return out;
#else
  const double quarter = std::nearbyint(2.0 * x);
  const double rest = (x - 0.5 * quarter) * 0x1.921fb54442d18p+1;  // |.| <= pi / 4, exact up to the product
  const double s = std::sin(rest), c = std::cos(rest);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return {static_cast<float>(s), static_cast<float>(c)};
    case 1:
      return {static_cast<float>(c), static_cast<float>(-s)};
    case 2:
      return {static_cast<float>(-s), static_cast<float>(-c)};
    default:
      return {static_cast<float>(-c), static_cast<float>(s)};
  }
#endif
}

// The hardware's approximations. They have documented bounds and no model: on the host there is nothing but NaN.
ROPEWALK_BODY SineCosine fast_sine_cosine(float x) {
#ifdef __CUDA_ARCH__
  SineCosine out;
  __sincosf(x, &out.sine, &out.cosine);
  return out;
#else
  return {x * std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::quiet_NaN()};
#endif
}

// Elements as they lie in memory; arithmetic is in float32, with one rounding when a result is stored.
struct Bfloat16 {
  std::uint16_t bits;
};
struct Float16 {
  std::uint16_t bits;
};

ROPEWALK_BODY float load(float x) { return x; }
ROPEWALK_BODY float load(Bfloat16 x) {
#ifdef __CUDA_ARCH__
  return __bfloat162float(__ushort_as_bfloat16(x.bits));
#else
  return bfloat16_to_float(x.bits);
#endif
}
ROPEWALK_BODY float load(Float16 x) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(x.bits));
#else
  return float16_to_float(x.bits);
#endif
}

ROPEWALK_BODY void store(float value, float& to) { to = value; }
ROPEWALK_BODY void store(float value, Bfloat16& to) {
#ifdef __CUDA_ARCH__
  to.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  to.bits = float_to_bfloat16(value);
#endif
}
ROPEWALK_BODY void store(float value, Float16& to) {
#ifdef __CUDA_ARCH__
  to.bits = __half_as_ushort(__float2half_rn(value));
#else
  to.bits = float_to_float16(value);
#endif
}

}  // namespace ropewalk::kernels
