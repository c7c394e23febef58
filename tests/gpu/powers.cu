#include <cmath>
#include <cstring>

#include "harness/devices/cuda_kernels/launch.cuh"
#include "harness/devices/cuda_math/cuda_math.hpp"
#include "tests/gpu/bases.hpp"
#include "tests/gpu/checks.hpp"

namespace ropewalk::gpu_checks {
namespace {

__global__ void evaluate(float base, const float* exponents, float* powers, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) powers[i] = powf(base, exponents[i]);
}

// +-2 i / width, as a quotient and as a product with the width's reciprocal, for every even width up to 1024.
std::vector<float> exponents() {
  std::vector<float> out;
  for (int width = 2; width <= kLargestWidth; width += 2) {
    const auto divisor = static_cast<float>(width), reciprocal = 1.0F / divisor;
    for (int i = 0; i < width; i += 2)
      for (const float e : {static_cast<float>(i) / divisor, static_cast<float>(i) * reciprocal}) {
        out.push_back(e);
        out.push_back(-e);
      }
  }
  return out;
}

}  // namespace

Outcome all_powers() {
  Outcome out{"powf over every base and exponent of tables against the model", true, {}};
  const std::vector<float> y = exponents();
  const auto count = static_cast<std::int64_t>(y.size());
  const kernels::Buffer in(y.data(), count * 4), powers(count * 4);
  std::vector<float> got(y.size());
  std::int64_t compared = 0, wrong = 0, undetermined = 0, of_those = 0;
  for (const float base : kBases) {
    evaluate<<<static_cast<unsigned>((count + 255) / 256), 256>>>(base, in.as<float>(), powers.as<float>(), count);
    kernels::check(cudaGetLastError(), "launch");
    powers.copy_to(got.data(), count * 4);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const cuda_math::Power model = cuda_math::pow(base, y[i]);
      const bool differs = std::memcmp(&model.value, &got[i], 4) != 0;
      ++compared;
      undetermined += model.undetermined;
      of_those += model.undetermined && differs;
      wrong += !model.undetermined && differs;
    }
  }
  out.fact("powers", static_cast<double>(compared));
  out.fact("undetermined", static_cast<double>(undetermined));
  out.fact("undetermined ones with other bits than the model's middle", static_cast<double>(of_those));
  out.expect(wrong == 0, "determined ones with other bits than the model", static_cast<double>(wrong));
  return out;
}

}  // namespace ropewalk::gpu_checks
