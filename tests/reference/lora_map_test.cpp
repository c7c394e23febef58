// The index map against its definition, laid out head by head, and against what is published.
#include "reference/lora_map.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "tests/reference/lora_oracle.hpp"

namespace ropewalk::reference {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> by_owners(const LoraMap& map) {
  std::vector<std::int64_t> index;
  const std::vector<Owner> all = owners(map);
  for (int part = 0; part < 3; ++part)
    for (std::int64_t column = 0; map.enable[part] && column < map.size(part); ++column)
      for (std::size_t o = 0; o < all.size(); ++o)
        if (all[o].part == part && all[o].column == column) index.push_back(static_cast<std::int64_t>(o));
  return index;
}

// The published rule of the grouped layout: column x is a query of its group if (x / d) mod (g + 2) < g, a key if equal
// to g, else a value; g query heads for each key head.
std::vector<std::int64_t> by_remainders(const LoraMap& map) {
  std::vector<std::int64_t> index;
  const std::int64_t g = map.heads / map.groups;
  for (int part = 0; part < 3; ++part)
    for (std::int64_t x = 0; map.enable[part] && x < map.out(); ++x) {
      const std::int64_t place = x / map.head_dim % (g + 2);
      if ((place < g ? 0 : place == g ? 1 : 2) == part) index.push_back(x);
    }
  return index;
}

TEST(LoraMap, EqualsTheDefinitionForAllMasksAndGeometries) {
  int compared = 0;
  for (const std::int64_t groups : {1, 2, 3, 6})
    for (const std::int64_t head_dim : {1, 2, 5})
      for (unsigned mask = 0; mask < 8; ++mask)
        for (const LoraLayout layout : {LoraLayout::contiguous, LoraLayout::grouped}) {
          LoraMap map{6, groups, head_dim, {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0}, layout};
          const std::vector<std::int64_t> index = lora_index(map);
          ASSERT_EQ(index, by_owners(map));
          if (layout == LoraLayout::grouped) {
            ASSERT_EQ(index, by_remainders(map));
          }
          ASSERT_EQ(static_cast<std::int64_t>(index.size()), map.enabled());
          ++compared;
        }
  EXPECT_EQ(compared, 192);
}

// litgpt issue 891: rows {0-3, 6-11, 14, 15}, where the faulty version had {0-7, 12-15}.
TEST(LoraMap, OfTheGroupedExampleIsThePublishedOne) {
  const LoraMap map{4, 2, 2, {true, false, true}, LoraLayout::grouped};
  std::vector<std::int64_t> index = lora_index(map);
  EXPECT_THAT(index, ElementsAre(0, 1, 2, 3, 8, 9, 10, 11, 6, 7, 14, 15));
  std::sort(index.begin(), index.end());
  EXPECT_THAT(index, ElementsAre(0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 15));
}

// With all three enabled the contiguous map is the identity; the grouped one only with one group.
TEST(LoraMap, OfAllThreeIsTheIdentityOnlyWhereContiguous) {
  for (const std::int64_t groups : {1, 2, 4}) {
    LoraMap map{4, groups, 2};
    std::vector<std::int64_t> identity(static_cast<std::size_t>(map.out()));
    std::iota(identity.begin(), identity.end(), 0);
    EXPECT_EQ(lora_index(map), identity);
    map.layout = LoraLayout::grouped;
    EXPECT_EQ(lora_index(map) == identity, groups == 1);
  }
}

TEST(LoraMap, PadsTheMiddleThirdWithZeros) {
  const LoraMap map{8, 8, 16, {true, false, true}};  // 256 columns to 384
  ASSERT_EQ(map.enabled(), 256);
  ASSERT_EQ(map.out(), 384);
  std::vector<double> values(2 * 256);
  std::iota(values.begin(), values.end(), 1);
  const std::vector<double> padded = lora_pad(map, values);
  ASSERT_EQ(padded.size(), std::size_t{2 * 384});
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const std::size_t row = i / 384, column = i % 384;
    const bool middle = column >= 128 && column < 256;
    const double expected = middle ? 0 : static_cast<double>(1 + 256 * row + (column < 128 ? column : column - 128));
    ASSERT_EQ(padded[i], expected) << i;
    ASSERT_FALSE(std::signbit(padded[i]));
  }
}

TEST(LoraMap, RefusesImpossibleSizes) {
  EXPECT_THROW(lora_index({4, 3, 2}), std::invalid_argument);
  EXPECT_THROW(lora_index({0, 1, 2}), std::invalid_argument);
  EXPECT_THROW(lora_index({4, 2, 0}), std::invalid_argument);
  EXPECT_THROW(lora_pad({4, 2, 2}, std::vector<double>(17)), std::invalid_argument);
  EXPECT_THROW(lora_pad({4, 2, 2, {false, false, false}}, std::vector<double>(16)), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk::reference
