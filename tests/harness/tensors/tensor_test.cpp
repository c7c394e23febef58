#include "harness/tensors/tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ropewalk {
namespace {

TEST(Tensor, RowsShareTheStorage) {
  Tensor tensor(DType::float32, {3, 2});
  for (int i = 0; i < 6; ++i) tensor.as<float>()[i] = static_cast<float>(i);
  Tensor rows = tensor.rows(1, 2);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(to_doubles(rows), (std::vector<double>{2, 3, 4, 5}));
  rows.as<float>()[0] = 7;
  EXPECT_EQ(tensor.as<float>()[2], 7);
  EXPECT_THROW(tensor.rows(2, 2), std::out_of_range);
  EXPECT_THROW(tensor.rows(-1, 1), std::out_of_range);
}

TEST(Tensor, SameBitsTellsZerosApartAndNansAlike) {
  Tensor a(DType::float64, {2}), b(DType::float64, {2});
  EXPECT_TRUE(same_bits(a, b));
  b.as<double>()[0] = -0.0;
  EXPECT_FALSE(same_bits(a, b));
  a.as<double>()[0] = b.as<double>()[0] = std::nan("");
  EXPECT_TRUE(same_bits(a, b));
  EXPECT_FALSE(same_bits(a, Tensor(DType::float64, {2, 1})));
  EXPECT_FALSE(same_bits(Tensor(DType::int64, {2}), Tensor(DType::float64, {2})));
}

TEST(Tensor, ElementsAsDoubles) {
  Tensor tensor(DType::bfloat16, {2});
  tensor.as<std::uint16_t>()[0] = 0x3fc0;
  tensor.as<std::uint16_t>()[1] = 0xc000;
  EXPECT_EQ(to_doubles(tensor), (std::vector<double>{1.5, -2}));
  Tensor eight(DType::float8_e4m3fn, {2});
  eight.as<std::uint8_t>()[0] = 0x38;
  eight.as<std::uint8_t>()[1] = 0xfe;
  EXPECT_EQ(to_doubles(eight), (std::vector<double>{1, -448}));
  EXPECT_THROW(to_doubles(Tensor(DType::complex64, {1})), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk
