#include "harness/devices/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/bad_input.hpp"
#include "harness/recipes/run.hpp"
#include "harness/tensors/half.hpp"

namespace ropewalk {
namespace {

Tensor whole_numbers(std::int64_t count) {
  Tensor t(DType::int64, {count});
  for (std::int64_t i = 0; i < count; ++i) t.as<std::int64_t>()[i] = i;
  return t;
}

Tensor floats(const std::vector<float>& values) {
  Tensor t(DType::float32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.as<float>().begin());
  return t;
}

Tensor on(const std::string& device, Op op, const std::vector<Argument>& in, DType dtype = DType::float32) {
  return make_device(device)->apply(op, in, dtype);
}

// Blocks of rows cast the position numbers; projects call arange in the dtype. Both must be the same numbers.
TEST(Positions, AreWhatArangeGivesInWideDtypes) {
  for (const DType dtype : {DType::float32, DType::float64}) {
    const Tensor cast = on("cpu", Op::positions, {whole_numbers(100000)}, dtype);
    EXPECT_TRUE(same_bits(cast, on("cpu", Op::arange, {0.0, 100000.0, 1.0}, dtype))) << name_of(dtype);
  }
}

// In 16 bits they are not (see run.cpp), so a recipe's positions must be arange's.
TEST(Positions, AreWhatArangeGivesIn16Bits) {
  for (const char* fault : {"positions-bfloat16", "positions-float16"}) {
    Case c;
    c.rope.head_dim = 8;
    c.positions.limit = 60000;
    const auto numbers = whole_numbers(c.positions.limit);
    const DType dtype = *dtype_named(std::string(fault).substr(10));
    const RecipeRun run(find_recipe(fault), make_device("cpu"), c, false);
    const auto got = run.rows(numbers.as<std::int64_t>().subspan(40000)).at("positions");
    EXPECT_EQ(to_doubles(got), to_doubles(on("cpu", Op::arange, {0.0, 60000.0, 1.0}, dtype).rows(40000, 20000)))
        << fault;
  }
}

TEST(Positions, Bfloat16Holds769DistinctOf4096) {
  const auto values = to_doubles(on("cpu", Op::positions, {whole_numbers(4096)}, DType::bfloat16));
  EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 769U);  // DeepSpeed 4932
  EXPECT_EQ(values[257], 256);
}

// IEEE operations round the same everywhere; what differs is division by a number.
TEST(CudaMathDevice, AgreesWithTheCpuWhereIeeeDecides) {
  const Tensor x = floats({0.1F, 3, 1e-20F, 7e8F, -2.5F}), y = floats({1.3F, -7, 1e-19F, 3e-3F, 0.7F});
  const Tensor half = on("cpu", Op::cast, {x}, DType::bfloat16);
  for (const Op op : {Op::multiply, Op::add, Op::subtract, Op::divide})
    EXPECT_TRUE(same_bits(on("cpu", op, {x, y}), on("cuda-math", op, {x, y})));
  for (const Op op : {Op::negate, Op::reciprocal}) {
    EXPECT_TRUE(same_bits(on("cpu", op, {x}), on("cuda-math", op, {x})));
    EXPECT_TRUE(same_bits(on("cpu", op, {half}), on("cuda-math", op, {half})));
  }
  EXPECT_TRUE(same_bits(on("cpu", Op::multiply, {half, y}), on("cuda-math", Op::multiply, {half, y})));
  for (const DType dtype : {DType::bfloat16, DType::float16, DType::float64})
    EXPECT_TRUE(same_bits(on("cpu", Op::cast, {x}, dtype), on("cuda-math", Op::cast, {x}, dtype)));
}

// LibTorch on CUDA multiplies by the reciprocal of a number: 7/40 of the exponents of width 80 differ.
TEST(CudaMathDevice, DividesByANumberThroughItsReciprocal) {
  const auto exponents = [](const std::string& device, double width) {
    const Tensor k = on(device, Op::arange, {0.0, width, 2.0}, DType::float32);
    return to_doubles(on(device, Op::divide, {k, width}));
  };
  const auto differing = [&](double width) {
    const auto cpu = exponents("cpu", width), cuda = exponents("cuda-math", width);
    int n = 0;
    for (std::size_t i = 0; i < cpu.size(); ++i) n += cpu[i] != cuda[i];
    return n;
  };
  EXPECT_EQ(differing(64), 0);
  EXPECT_EQ(differing(256), 0);
  EXPECT_EQ(differing(20), 1);
  EXPECT_EQ(differing(80), 7);
  EXPECT_EQ(differing(96), 15);
  EXPECT_EQ(differing(192), 31);
}

TEST(CudaMathDevice, RefusesWhatItDoesNotModel) {
  const Tensor x = floats({1, 2});
  const Tensor wide = on("cpu", Op::cast, {x}, DType::float64);
  EXPECT_THROW(on("cuda-math", Op::sin, {wide}), Refused);
  EXPECT_THROW(on("cuda-math", Op::exp, {x}), Refused);
  EXPECT_THROW(on("cuda-math", Op::power, {x, x}), Refused);
}

TEST(CudaMathDevice, PolarIsCosineAndSine) {
  const Tensor x = floats({0, 1, 100, 131071});
  const Tensor z = on("cuda-math", Op::polar, {x});
  EXPECT_TRUE(same_bits(on("cuda-math", Op::real, {z}), on("cuda-math", Op::cos, {x})));
  EXPECT_TRUE(same_bits(on("cuda-math", Op::imag, {z}), on("cuda-math", Op::sin, {x})));
}

TEST(Devices, SayWhyTheyAreNotHere) {
  const auto cuda = make_device("cuda");
  EXPECT_FALSE(cuda->emulated());
  EXPECT_TRUE(make_device("cuda-math")->emulated());
  if (!cuda->missing().empty()) {
    EXPECT_THAT(cuda->missing(), testing::ContainsRegex("\\.so|[Cc][Uu][Dd][Aa]"));
  }
  EXPECT_THROW(make_device("gpu"), BadInput);
}

}  // namespace
}  // namespace ropewalk
