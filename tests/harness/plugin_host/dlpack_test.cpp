#include "harness/plugin_host/dlpack.hpp"

#include <gtest/gtest.h>

#include "tests/harness/plugin_host/layout.hpp"

namespace ropewalk {
namespace {

TEST(DLPack, TheHeaderHasItsLayout) {
  const auto ours = ROPEWALK_DLPACK_LAYOUT;
  EXPECT_EQ(ours, layout_of_dlpack());
}

TEST(DLPack, EveryDTypeRoundTrips) {
  for (int i = 0; i <= static_cast<int>(DType::complex64); ++i) {
    Tensor tensor(static_cast<DType>(i), {2, 3});
    for (std::size_t b = 0; b < tensor.bytes().size(); ++b) tensor.bytes()[b] = static_cast<std::byte>(b);
    Shape shape = tensor.shape();
    const DLTensor described{tensor.bytes().data(), {kDLCPU, 0}, 2, *dlpack_type(tensor.dtype()),
                             shape.data(),          nullptr,     0};
    EXPECT_TRUE(same_bits(copied(described), tensor)) << name_of(tensor.dtype());
  }
  EXPECT_FALSE(dlpack_type(DType::float8_e4m3fn));
}

TEST(DLPack, NegativeStridesRunBackwards) {
  float values[3] = {1, 2, 3};
  std::int64_t shape = 3, stride = -1;
  const DLTensor described{values, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, &shape, &stride, 2 * sizeof(float)};
  EXPECT_EQ(to_doubles(copied(described)), (std::vector<double>{3, 2, 1}));
}

}  // namespace
}  // namespace ropewalk
