#include "harness/tensors/dtype.hpp"

#include <gtest/gtest.h>

namespace ropewalk {
namespace {

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(DType::float8_e5m2); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype) << name_of(dtype);
  }
  EXPECT_EQ(dtype_named("float8"), std::nullopt);
  EXPECT_EQ(dtype_named(""), std::nullopt);
}

TEST(DType, Sizes) {
  EXPECT_EQ(bytes_of(DType::float64), 8U);
  EXPECT_EQ(bytes_of(DType::bfloat16), 2U);
  EXPECT_EQ(bytes_of(DType::boolean), 1U);
}

TEST(DType, OnlyFloatingOnesHaveAFormat) {
  EXPECT_EQ(format_of(DType::float16), reference::Format::float16);
  EXPECT_FALSE(is_floating(DType::int64));
  EXPECT_FALSE(is_floating(DType::complex64));
  EXPECT_FALSE(is_floating(DType::float8_e5m2));
  EXPECT_THROW(format_of(DType::int64), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk
