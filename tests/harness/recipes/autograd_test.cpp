// Gradients as recipes write them are those of LibTorch's autograd: the same operations in the same order.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "harness/cases/inputs.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/whole_run.hpp"

namespace ropewalk {
namespace {

at::Tensor torch_of(const Tensor& tensor) {
  const auto type = tensor.dtype() == DType::float32    ? at::kFloat
                    : tensor.dtype() == DType::bfloat16 ? at::kBFloat16
                                                        : at::kHalf;
  at::Tensor out = at::empty(tensor.shape(), at::TensorOptions().dtype(type));
  std::memcpy(out.data_ptr(), tensor.bytes().data(), tensor.bytes().size());
  return out;
}

at::Tensor turned(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine) {
  const auto halves = x.chunk(2, -1);
  return x * cosine + at::cat({-halves[1], halves[0]}, -1) * sine;
}

at::Tensor repeated(const at::Tensor& x, std::int64_t times) {  // [batch, kv_heads, seq, dim]
  return x.unsqueeze(2)
      .expand({x.size(0), x.size(1), times, x.size(2), x.size(3)})
      .reshape({x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

double relative(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>() /
         b.to(at::kDouble).abs().max().item<double>();
}

class Autograd : public testing::TestWithParam<DType> {};

TEST_P(Autograd, GivesTheGradientsOfTheRecipe) {
  Case problem;
  problem.id = "autograd";
  problem.dtype = GetParam();
  problem.rope.head_dim = 32;
  problem.positions.limit = 9;
  problem.attention.emplace();
  problem.attention->heads = 4;
  problem.attention->kv_heads = 2;
  problem.attention->batch = 2;
  problem.attention->causal = "top_left";
  const Values inputs = make_inputs(problem);
  const WholeRun run =
      run_whole(find_recipe("hf-eager-attention-training"), make_device("cpu"), problem, inputs, false);
  ASSERT_TRUE(run.failed.empty()) << run.failed.begin()->second;

  at::Tensor q = torch_of(inputs.at("q")).requires_grad_(true), k = torch_of(inputs.at("k")).requires_grad_(true),
             v = torch_of(inputs.at("v")).requires_grad_(true);
  const auto both = [&](const char* name) {
    const at::Tensor half = torch_of(run.values.at(name));
    return at::cat({half, half}, -1);
  };
  const at::Tensor cosine = both("cos"), sine = both("sin");
  const at::Tensor rotated = turned(q.transpose(1, 2), cosine, sine),
                   keys = repeated(turned(k.transpose(1, 2), cosine, sine), 2);
  const at::Tensor scores =
      at::matmul(rotated, keys.transpose(2, 3)) * (1 / std::sqrt(32.0)) + torch_of(inputs.at("mask"));
  const at::Tensor weights = at::softmax(scores, -1, at::kFloat).to(q.scalar_type());
  const at::Tensor output = at::matmul(weights, repeated(v.transpose(1, 2), 2)).transpose(1, 2).contiguous();
  output.backward(torch_of(inputs.at("grad_output")));

  EXPECT_TRUE(output.equal(torch_of(run.values.at("output"))));
  const std::pair<const char*, at::Tensor> gradients[] = {
      {"grad_q", q.grad()}, {"grad_k", k.grad()}, {"grad_v", v.grad()}};
  for (const auto& [name, expected] : gradients) {
    const at::Tensor got = torch_of(run.values.at(name));
    EXPECT_TRUE(got.equal(expected)) << name << " differs by " << relative(got, expected) << " of the largest";
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, Autograd, testing::Values(DType::float32, DType::bfloat16, DType::float16));

}  // namespace
}  // namespace ropewalk
