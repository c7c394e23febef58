#include "harness/devices/functions.hpp"

namespace ropewalk {
namespace {

using enum Reliance;

const FunctionNote kIeee{"+ - * / reciprocal, casts, fma, reductions by turns",
                         {Op::add, Op::subtract, Op::multiply, Op::reciprocal, Op::cast, Op::fma, Op::less_turns},
                         exact,
                         "IEEE operations, rounded once each; movements of elements change no bit"};

std::vector<FunctionNote> of_cpu() {
  return {kIeee,
          {"sin cos", {Op::sin, Op::cos}, bounded, "MKL's VML (HA, 1 ulp) or SLEEF (3.5 ulp), as LibTorch was built"},
          {"pow exp log",
           {Op::power, Op::exp, Op::log},
           bounded,
           "SLEEF or libm, 1 ulp; bits depend on the place in the tensor"},
          {"sums of products, softmax", {Op::matmul, Op::softmax}, bounded, "any order of summation"},
          {"sinpi cospi, approximations",
           {Op::sin_pi, Op::cos_pi, Op::sin_fast, Op::cos_fast},
           refused,
           "LibTorch has none"}};
}

std::vector<FunctionNote> of_cuda() {
  return {kIeee,
          {"sin cos pow",
           {Op::sin, Op::cos, Op::power},
           bounded,
           "CUDA: sinf, cosf 2 ulp, powf 4 ulp; cuda-math models their bits"},
          {"exp log", {Op::exp, Op::log}, bounded, "CUDA: expf 2 ulp, logf 1 ulp"},
          {"sums of products, softmax",
           {Op::matmul, Op::softmax},
           bounded,
           "any order of summation; TF32 where it is switched on"},
          {"sinpi cospi, approximations",
           {Op::sin_pi, Op::cos_pi, Op::sin_fast, Op::cos_fast},
           refused,
           "LibTorch has none"}};
}

std::vector<FunctionNote> of_cuda_math() {
  return {
      kIeee,
      {"sin cos", {Op::sin, Op::cos}, emulated, "bit for bit, all floats (docs/cuda_math.md)"},
      {"pow", {Op::power}, emulated, "bit for bit but where the hardware's reciprocal decides: those are undetermined"},
      {"exp log exp2 tanh", {Op::exp, Op::log, Op::exp2, Op::tanh}, refused, "ex2.approx and lg2.approx have no model"},
      {"sinpi cospi", {Op::sin_pi, Op::cos_pi}, refused, "no published sequence was modelled"},
      {"approximations (__sinf, __cosf)",
       {Op::sin_fast, Op::cos_fast},
       refused,
       "sin.approx and cos.approx have no model, only documented bounds"},
      {"sums of products, softmax",
       {Op::matmul, Op::softmax},
       refused,
       "the order in which CUDA sums is not modelled"}};
}

// What the kernels compute with; their other steps are cuda-math's.
std::vector<FunctionNote> of_cuda_kernels(bool on_gpu) {
  return {{"rotation, padding, reductions by turns", {}, exact, "explicit .rn operations and FMAs"},
          {"sincosf",
           {},
           on_gpu ? bounded : emulated,
           on_gpu ? "the GPU's, 2 ulp" : "the host twin takes cuda-math's sin and cos"},
          {"sincospif",
           {},
           bounded,
           on_gpu ? "the GPU's, 1 ulp (older editions: 2)"
                  : "the host twin takes a stand-in within CUDA's bound, not its bits"},
          {"approximations (__sincosf)",
           {},
           on_gpu ? bounded : refused,
           on_gpu ? "documented up to 100 pi"
                  : "bounded by documentation, not run: reports say by how much, position by position"},
          {"recipes without a kernel", {}, refused, "they run on the other devices"}};
}

}  // namespace

std::string_view name_of(Reliance reliance) {
  constexpr std::string_view kNames[] = {"exact", "emulated", "bounded", "refused"};
  return kNames[static_cast<std::size_t>(reliance)];
}

std::vector<FunctionNote> functions_of(const std::string& device, bool on_gpu) {
  if (device == "cpu") return of_cpu();
  if (device == "cuda") return of_cuda();
  if (device == "cuda-math") return of_cuda_math();
  return of_cuda_kernels(on_gpu);
}

}  // namespace ropewalk
