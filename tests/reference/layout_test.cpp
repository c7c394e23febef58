#include "reference/layout.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/reference/draws.hpp"

namespace ropewalk::reference {
namespace {

using testing::ElementsAre;

TEST(ChannelOrder, IsTheOneInUse) {
  EXPECT_THAT(channel_order(Pairing::interleaved, Pairing::half_split, 8, 8), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(channel_order(Pairing::half_split, Pairing::interleaved, 8, 8), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(channel_order(Pairing::half_split, Pairing::interleaved, 8, 4), ElementsAre(0, 2, 1, 3, 4, 5, 6, 7));
  EXPECT_THAT(channel_order(Pairing::half_split, Pairing::half_split, 4, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THROW(channel_order(Pairing::half_split, Pairing::interleaved, 8, 3), std::invalid_argument);
  EXPECT_THROW(channel_order(Pairing::half_split, Pairing::interleaved, 8, 10), std::invalid_argument);
}

std::vector<double> ordered(const std::vector<double>& x, const std::vector<int>& order) {
  std::vector<double> out;
  for (std::size_t row = 0; row < x.size(); row += order.size())
    for (const int channel : order) out.push_back(x[row + static_cast<std::size_t>(channel)]);
  return out;
}

// Position 5 of a head of 8 with 4 turning channels is among them; the wrong pairing there looks plausible.
TEST(ChannelOrder, CarriesOneRotationIntoTheOther) {
  Draws draws(3);
  for (const auto& [dim, rotary] : {std::pair{4, 4}, {8, 4}, {8, 8}, {80, 20}}) {
    constexpr int kRows = 6;
    std::vector<double> x(static_cast<std::size_t>(kRows * dim));
    for (double& v : x) v = static_cast<float>(draws.normal());
    SinCos table;
    Table(Frequencies::powers(1e4, rotary)).dense(0, kRows, table);
    const auto order = channel_order(Pairing::half_split, Pairing::interleaved, dim, rotary);
    std::vector<double> half(x.size()), interleaved(x.size()), wrong(x.size());
    rotate_rounded({dim, rotary, Pairing::half_split, false}, Format::float64, x, table.cos, table.sin, half);
    const auto changed = ordered(x, order);
    rotate_rounded({dim, rotary, Pairing::interleaved, false}, Format::float64, changed, table.cos, table.sin,
                   interleaved);
    rotate_rounded({dim, rotary, Pairing::interleaved, false}, Format::float64, x, table.cos, table.sin, wrong);
    EXPECT_EQ(interleaved, ordered(half, order)) << dim << " " << rotary;
    EXPECT_NE(wrong, half);
    EXPECT_EQ(ordered(changed, channel_order(Pairing::interleaved, Pairing::half_split, dim, rotary)), x);
  }
}

}  // namespace
}  // namespace ropewalk::reference
