// Operations that choose, bound, repeat and stand beside tensors, on cpu and cuda-math against plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness/devices/cuda_math/cuda_math.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/step.hpp"

namespace ropewalk {
namespace {

Tensor floats(const std::vector<float>& values) {
  Tensor t(DType::float32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.as<float>().begin());
  return t;
}

// As recipes run it: what is IEEE's alone is done on the host.
std::vector<float> run(const std::string& device, Op op, const std::vector<Argument>& in,
                       DType dtype = DType::float32) {
  Step step;
  step.op = op;
  const Tensor result = run_on(*make_device(device), step, in, dtype);
  const auto values = result.as<float>();
  return {values.begin(), values.end()};
}

const std::vector<float> kX{-2.5F, -0.0F, 0.1F, 0.3333333F, 1, 1.0000001F, 7e8F, 1e-20F};
const std::vector<float> kY{-2.4999998F, 0.0F, 0.1F, 0.33333334F, 1, 1, -3, 2e-20F};

class Choices : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, Choices, testing::Values("cpu", "cuda-math"),
                         [](const auto& device) { return std::string(device.param).substr(0, 4); });

TEST_P(Choices, ClampIsStdClamp) {
  std::vector<float> right;
  for (const float x : kX) right.push_back(std::clamp(x, 0.0F, 1.0F));
  EXPECT_EQ(run(GetParam(), Op::clamp, {floats(kX), 0.0, 1.0}), right);
}

TEST_P(Choices, SelectTakesTheFirstOnlyWhereLess) {
  std::vector<float> of_tensors, of_numbers, number_first;
  for (std::size_t i = 0; i < kX.size(); ++i) {
    of_tensors.push_back(kX[i] < kY[i] ? 10.0F : kY[i]);
    of_numbers.push_back(kX[i] < 1 ? kX[i] : kY[i]);
    number_first.push_back(1 < kX[i] ? kX[i] : kY[i]);
  }
  const Tensor x = floats(kX), y = floats(kY);
  EXPECT_EQ(run(GetParam(), Op::select_less, {x, y, 10.0, y}), of_tensors);
  EXPECT_EQ(run(GetParam(), Op::select_less, {x, 1.0, x, y}), of_numbers);
  EXPECT_EQ(run(GetParam(), Op::select_less, {1.0, x, x, y}), number_first);
}

// 0.1 is no float: Python's number is compared as the float next to it.
TEST_P(Choices, SelectComparesNumbersAsTheTensorsDtype) {
  EXPECT_EQ(run(GetParam(), Op::select_less, {floats({0.1F}), 0.1, 1.0, floats({2})}), std::vector<float>{2});
}

TEST_P(Choices, TheRunningProductRoundsEachTime) {
  const float ratio = 0.8659643F;
  Tensor column(DType::float32, {3, 1});
  const std::vector<float> first{1, 4095, 131071};
  std::copy(first.begin(), first.end(), column.as<float>().begin());
  std::vector<float> right;
  for (const float start : first) {
    float value = start;
    for (int i = 0; i < 64; ++i, value = value * ratio) right.push_back(value);
  }
  EXPECT_EQ(run(GetParam(), Op::running_product, {column, static_cast<double>(ratio), 64.0}), right);
  int rounded = 0;
  for (int i = 0; i < 64; ++i) rounded += right[i] != static_cast<float>(std::pow(static_cast<double>(ratio), i));
  EXPECT_GT(rounded, 30) << "nothing would be rounded";
  const Tensor one = make_device(GetParam())->apply(Op::scalar, std::vector<Argument>{1.0}, DType::float32);
  right.resize(64);
  EXPECT_EQ(run(GetParam(), Op::running_product, {one, static_cast<double>(ratio), 64.0}), right);
}

// transformers' base for a longer sequence: tensors without dimensions, float32 at each step.
TEST_P(Choices, TensorsWithoutDimensionsRoundLikeOthers) {
  const auto device = make_device(GetParam());
  const auto apply = [&](Op op, const std::vector<Argument>& in, DType dtype = DType::float32) {
    return device->apply(op, in, dtype);
  };
  const Tensor length = apply(Op::scalar, {20000.0}, DType::int64);
  EXPECT_TRUE(length.shape().empty());
  const Tensor scaled = apply(Op::multiply, {length, 2.5});
  const Tensor ratio = apply(Op::divide, {scaled, 4098.0}), less = apply(Op::subtract, {ratio, 1.5});
  const bool by_reciprocal = device->bounds().divides_by_reciprocal;
  const float quotient = by_reciprocal ? 50000.0F * (1 / 4098.0F) : 50000.0F / 4098.0F;
  EXPECT_EQ(ratio.as<float>()[0], quotient);
  EXPECT_EQ(less.as<float>()[0], quotient - 1.5F);
  const Tensor raised = apply(Op::power, {less, 128.0 / 126.0});
  const float base = quotient - 1.5F;
  if (by_reciprocal) {
    EXPECT_EQ(raised.as<float>()[0], cuda_math::pow(base, static_cast<float>(128.0 / 126.0)).value);
  } else {  // LibTorch on the CPU keeps the number in float64
    EXPECT_EQ(raised.as<float>()[0], static_cast<float>(std::pow(static_cast<double>(base), 128.0 / 126.0)));
  }
  const Tensor exponents = floats({0, 0.25F, 0.5F}), powers = apply(Op::power, {raised, exponents});
  ASSERT_EQ(powers.shape(), Shape{3});
  EXPECT_EQ(powers.as<float>()[0], 1);
  EXPECT_NEAR(powers.as<float>()[2], std::sqrt(raised.as<float>()[0]), 1e-6);
  const Tensor products = apply(Op::multiply, {exponents, raised});
  EXPECT_EQ(products.as<float>()[1], 0.25F * raised.as<float>()[0]);
  EXPECT_EQ(products.dtype(), DType::float32);
}

}  // namespace
}  // namespace ropewalk
