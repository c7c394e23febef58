// Cosine and sine of position * inv_freq, element i = row * pairs + pair of a table [rows, pairs].
#pragma once

#include "harness/devices/cuda_kernels/arithmetic.hpp"

namespace ropewalk::kernels {

enum class TableWay {
  radians,       // sincosf of the float32 product
  turns,         // sincospif of the float64 product in half turns, reduced
  turns_fused,   // the same, the reduction by one FMA
  phase,         // sincosf of the float64 product less its turns, rounded to float32
  phase_fused,   // the same, the reduction by two FMAs
  fast,          // the hardware's approximations of the float32 product
  fast_reduced,  // the same of phase_fused's argument
};

// 1 / (2 pi) and 2 pi in two parts: nearest float64 numbers. harness/recipes/reductions.cpp has the same steps.
inline constexpr double turns_per_radian = 0x1.45f306dc9c883p-3;
inline constexpr double turn_high = 0x1.921fb54442d18p+2, turn_low = 0x1.1a62633145c07p-52;

// x less the nearest multiple of 2 pi.
ROPEWALK_BODY float less_turns(double x, bool with_fma) {
  const double turns = nearest_integer(multiply(x, turns_per_radian));
  if (with_fma) return to_float(fused(-turns, turn_low, fused(-turns, turn_high, x)));
  return to_float(subtract(subtract(x, multiply(turns, turn_high)), multiply(turns, turn_low)));
}

// x / pi less the nearest multiple of 2.
ROPEWALK_BODY float half_turns(double x, bool with_fma) {
  const double turns = multiply(x, turns_per_radian), whole = nearest_integer(turns);
  const double part = with_fma ? fused(x, turns_per_radian, -whole) : subtract(turns, whole);
  return to_float(multiply(part, 2.0));
}

struct TableArguments {
  const float* positions;  // [rows]
  const float* inv_freq;   // [pairs]
  void* angle;             // [rows, pairs] of AngleOf<way>
  float *cos, *sin;        // [rows, pairs]
  std::int64_t rows, pairs;
};

ROPEWALK_BODY constexpr bool in_float32(TableWay way) { return way == TableWay::radians || way == TableWay::fast; }

template <TableWay way>
struct Table {
  TableArguments a;

  ROPEWALK_BODY void operator()(std::int64_t i) const {
    const float position = a.positions[i / a.pairs], frequency = a.inv_freq[i % a.pairs];
    SineCosine out;
    if constexpr (in_float32(way)) {
      const float angle = multiply(position, frequency);
      static_cast<float*>(a.angle)[i] = angle;
      out = way == TableWay::fast ? fast_sine_cosine(angle) : sine_cosine(angle);
    } else {
      // The product of two float32 numbers: exact in float64.
      const double angle = multiply(static_cast<double>(position), static_cast<double>(frequency));
      static_cast<double*>(a.angle)[i] = angle;
      if constexpr (way == TableWay::turns || way == TableWay::turns_fused)
        out = sine_cosine_pi(half_turns(angle, way == TableWay::turns_fused));
      else if constexpr (way == TableWay::fast_reduced)
        out = fast_sine_cosine(less_turns(angle, true));
      else
        out = sine_cosine(less_turns(angle, way == TableWay::phase_fused));
    }
    a.cos[i] = out.cosine;
    a.sin[i] = out.sine;
  }
};

}  // namespace ropewalk::kernels
