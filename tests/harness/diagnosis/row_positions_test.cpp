#include "harness/diagnosis/row_positions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/bad_input.hpp"
#include "tests/harness/diagnosis/dumps.hpp"

namespace ropewalk {
namespace {

using testing::ElementsAre;

TEST(PositionsOption, RangesAndLists) {
  EXPECT_THAT(read_positions_option("3..6"), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(read_positions_option("0..9:4"), ElementsAre(0, 4, 8));
  EXPECT_THAT(read_positions_option("7,8,900"), ElementsAre(7, 8, 900));
  EXPECT_THAT(read_positions_option("5"), ElementsAre(5));
}

TEST(PositionsOption, AFile) {
  const TestFolder folder;
  const std::string file = (folder.path / "p.safetensors").string();
  Tensor tensor(DType::int64, {2});
  tensor.as<std::int64_t>()[1] = 9;
  write_safetensors(file, {{"any", tensor}});
  EXPECT_THAT(read_positions_option(file), ElementsAre(0, 9));
  write_safetensors(file, {{"positions", tensor}, {"x", tensor}});
  EXPECT_THAT(read_positions_option(file), ElementsAre(0, 9));
  write_safetensors(file, {{"x", tensor}, {"y", tensor}});
  EXPECT_THROW(read_positions_option(file), BadInput);
  EXPECT_THROW(read_positions_option("nowhere.safetensors"), BadInput);
}

TEST(PositionsOption, Nonsense) {
  for (const char* text : {"5..3", "1..", "..4", "1,,2", "0..9:0", "1..99999999", "0..5:", ","})
    EXPECT_THROW(read_positions_option(text), BadInput) << text;
}

Tensor numbers(DType dtype, const std::vector<float>& values) {
  Tensor tensor(DType::float32, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return dtype == DType::float32 ? tensor : cast(tensor, dtype);
}

TEST(RowPositions, WholeNumbersOfTheFileAreTheTruth) {
  const Tensor positions = numbers(DType::int64, {4, 9, 2});
  const RowPositions got = positions_of_rows("f", 3, &positions, {});
  EXPECT_THAT(got.truth, ElementsAre(4, 9, 2));
  EXPECT_TRUE(got.chosen_by_tensor);
}

TEST(RowPositions, NumbersThatCountUpInExactOrRoundedAreUnderTest) {
  std::vector<float> counting(300);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<float>(i);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    const Tensor positions = numbers(dtype, counting);
    const RowPositions got = positions_of_rows("f", 300, &positions, {});
    EXPECT_FALSE(got.chosen_by_tensor);
    EXPECT_EQ(got.truth[299], 299);
  }
  // The same numbers, rounded to bfloat16 and widened again: they must not become the truth.
  const Tensor widened = cast(numbers(DType::bfloat16, counting), DType::float32);
  EXPECT_EQ(positions_of_rows("f", 300, &widened, {}).truth[257], 257);
}

TEST(RowPositions, OthersAreRefusedOrJudged) {
  const Tensor negative = numbers(DType::int64, {0, -1});
  EXPECT_THROW(positions_of_rows("f", 2, &negative, {}), BadInput);
  const Tensor quarters = numbers(DType::float32, {0, 0.25F, 0.5F});
  EXPECT_THAT(positions_of_rows("f", 3, &quarters, {}).truth, ElementsAre(0, 1, 2));
  const Tensor far = numbers(DType::float32, {100, 101});
  EXPECT_THAT(positions_of_rows("f", 2, &far, {}).truth, ElementsAre(100, 101));
}

TEST(RowPositions, TheUserKnowsBest) {
  EXPECT_THAT(positions_of_rows("f", 2, nullptr, {8, 9}).truth, ElementsAre(8, 9));
  EXPECT_THROW(positions_of_rows("f", 3, nullptr, {8, 9}), BadInput);
}

}  // namespace
}  // namespace ropewalk
