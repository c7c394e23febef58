// CUDA's precise fp32 sinf, cosf and powf as sequences of IEEE operations, on the host: the same bits without a GPU.
// docs/cuda_math.md says what is modelled, from what, and what is not claimed. Nothing in this folder knows the
// harness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ropewalk::cuda_math {

float sin(float x);
float cos(float x);

struct Power {
  float value;
  bool undetermined;  // the result moves when the hardware's approximate reciprocal moves by one ulp
};
Power pow(float x, float y);

// Whole arrays, vectorised where |x| < 105615; the same bits as the functions above. in and out may be the same.
void sin(std::span<const float> in, std::span<float> out);
void cos(std::span<const float> in, std::span<float> out);
// out[i] = pow(base, in[i]); returns how many are undetermined.
std::size_t pow(float base, std::span<const float> in, std::span<float> out);

}  // namespace ropewalk::cuda_math
