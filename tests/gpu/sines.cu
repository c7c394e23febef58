#include <atomic>
#include <cstring>

#include "harness/devices/cuda_kernels/launch.cuh"
#include "harness/devices/cuda_math/cuda_math.hpp"
#include "tests/gpu/checks.hpp"

namespace ropewalk::gpu_checks {
namespace {

constexpr std::int64_t chunk = std::int64_t{1} << 24;

// All three functions of the floats with the bit patterns first .. first + chunk - 1.
__global__ void evaluate(std::uint32_t first, float* sine, float* cosine, unsigned long long* unequal) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = __uint_as_float(first + i);
  float s, c;
  sincosf(x, &s, &c);
  sine[i] = sinf(x);
  cosine[i] = cosf(x);
  const auto same = [](float a, float b) { return __float_as_uint(a) == __float_as_uint(b) || (a != a && b != b); };
  if (!same(s, sine[i]) || !same(c, cosine[i])) atomicAdd(unequal, 1ULL);
}

// The bits of a NaN are not claimed.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

}  // namespace

Outcome all_sines() {
  Outcome out{"sinf, cosf and sincosf of all 2^32 floats against the model", true, {}};
  const kernels::Buffer sine(chunk * 4), cosine(chunk * 4), unequal(8);
  kernels::check(cudaMemset(unequal.get(), 0, 8), "cudaMemset");
  std::vector<float> x(chunk), got(chunk), expected(chunk);
  std::atomic<std::int64_t> wrong[2] = {0, 0};
  std::uint32_t first_wrong[2] = {0, 0};
  for (std::uint64_t first = 0; first < (std::uint64_t{1} << 32); first += chunk) {
    evaluate<<<chunk / 256, 256>>>(static_cast<std::uint32_t>(first), sine.as<float>(), cosine.as<float>(),
                                   unequal.as<unsigned long long>());
    kernels::check(cudaGetLastError(), "launch");
    for (std::int64_t i = 0; i < chunk; ++i) {
      const auto bits = static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(i));
      std::memcpy(&x[i], &bits, 4);
    }
    for (const int function : {0, 1}) {
      (function == 0 ? sine : cosine).copy_to(got.data(), chunk * 4);
      in_threads(chunk, [&](std::int64_t from, std::int64_t to) {
        const std::span<const float> in(&x[from], static_cast<std::size_t>(to - from));
        const std::span<float> result(&expected[from], static_cast<std::size_t>(to - from));
        function == 0 ? cuda_math::sin(in, result) : cuda_math::cos(in, result);
        for (std::int64_t i = from; i < to; ++i)
          if (!same(got[i], expected[i]) && wrong[function]++ == 0)
            first_wrong[function] = static_cast<std::uint32_t>(first + static_cast<std::uint64_t>(i));
      });
    }
  }
  unsigned long long not_equal = 0;
  unequal.copy_to(&not_equal, 8);
  out.expect(wrong[0] == 0, "sinf: floats with other bits than the model", static_cast<double>(wrong[0]));
  out.expect(wrong[1] == 0, "cosf: floats with other bits than the model", static_cast<double>(wrong[1]));
  out.expect(not_equal == 0, "sincosf: floats where it is not (sinf, cosf)", static_cast<double>(not_equal));
  for (const int function : {0, 1})
    if (wrong[function] != 0) {
      char text[16];
      std::snprintf(text, sizeof text, "%08x", first_wrong[function]);
      out.fact(function == 0 ? "sinf: a float that differs" : "cosf: a float that differs", std::string(text));
    }
  return out;
}

}  // namespace ropewalk::gpu_checks
