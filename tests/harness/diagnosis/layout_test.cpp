#include "harness/diagnosis/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

// 0, 1, 2, ... in this shape.
Tensor counting(Shape shape) {
  Tensor tensor(DType::float32, std::move(shape));
  const auto values = tensor.as<float>();
  std::iota(values.begin(), values.end(), 0.0F);
  return tensor;
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  Tensor tensor(DType::float32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

std::string complaint(const Tensor& tensor, const std::vector<std::int64_t>& widths, std::int64_t rows) {
  try {
    as_matrix("f", "cos", tensor, widths, rows);
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "no complaint";
}

TEST(Layout, FindsTheRowsAmongOtherAxes) {
  const std::vector<double> expected{0, 1, 2, 3, 4, 5};
  for (const Shape& shape : {Shape{3, 2}, Shape{1, 3, 2}, Shape{1, 1, 3, 2}, Shape{1, 3, 1, 2}, Shape{3, 1, 1, 2}}) {
    const Tensor values = as_matrix("f", "cos", counting(shape), {2}, 0).values;
    EXPECT_EQ(values.shape(), (Shape{3, 2}));
    EXPECT_EQ(to_doubles(values), expected);
  }
}

TEST(Layout, DropsAxesOfTheSameBitsAndSaysSo) {
  const Arranged batch = as_matrix("f", "cos", floats({2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4}), {2}, 0);
  EXPECT_EQ(to_doubles(batch.values), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(batch.how, "[2, 2, 2], positions along axis 1, 2 times the same along axis 0");
  const Arranged heads = as_matrix("f", "cos", floats({2, 2, 2}, {1, 2, 1, 2, 3, 4, 3, 4}), {2}, 0);
  EXPECT_EQ(to_doubles(heads.values), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_THAT(heads.how, HasSubstr("positions along axis 0, 2 times the same along axis 1"));
}

TEST(Layout, ColumnsInAnotherAxis) {
  const Arranged got = as_matrix("f", "angle", counting({1, 2, 3}), {2}, 3);
  EXPECT_EQ(to_doubles(got.values), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_THAT(got.how, HasSubstr("columns along axis 1"));
}

TEST(Layout, BatchesWithTheirOwnPositionsAreMoreRows) {
  EXPECT_EQ(as_matrix("f", "cos", counting({2, 3, 4}), {4}, 6).values.shape(), (Shape{6, 4}));
}

TEST(Layout, WhatCannotBeATable) {
  EXPECT_THAT(complaint(counting({2, 3, 4}), {4}, 0),
              HasSubstr("f: cos: shape [2, 3, 4]: values change along several axes"));
  EXPECT_THAT(complaint(counting({2, 3, 4}), {4}, 3), HasSubstr("axis 0 holds different values"));
  EXPECT_THAT(complaint(counting({3, 4}), {8, 16}, 0), HasSubstr("an axis of 8 or 16 columns is needed"));
  EXPECT_THAT(complaint(counting({3, 4}), {4}, 5), HasSubstr("an axis of 5 positions is needed"));
  EXPECT_THAT(complaint(Tensor(DType::float32, {0, 4}), {4}, 0), HasSubstr("empty"));
  EXPECT_THAT(complaint(counting({}), {4}, 0), HasSubstr("empty"));
}

TEST(Layout, OneColumnAPair) {
  const Paired doubled = as_pairs(floats({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}), 2);
  EXPECT_EQ(doubled.layout, "doubled");
  EXPECT_EQ(to_doubles(doubled.values), (std::vector<double>{1, 2, 3, 4}));
  const Paired interleaved = as_pairs(floats({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4}), 2);
  EXPECT_EQ(interleaved.layout, "interleaved");
  EXPECT_EQ(to_doubles(interleaved.values), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(as_pairs(counting({2, 4}), 4).layout, "half width");
  EXPECT_EQ(as_pairs(counting({2, 4}), 0).layout, "half width") << "not known, and nothing repeats";
  EXPECT_EQ(as_pairs(floats({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4}), 0).layout, "doubled");
}

TEST(Layout, ACopyThatDiffersIsCounted) {
  const Paired one = as_pairs(floats({2, 4}, {1, 2, 1, 2, 3, 4, 3, 5}), 2);
  EXPECT_EQ(one.layout, "doubled");
  EXPECT_EQ(one.unequal, 1);
  EXPECT_EQ(one.row, 1);
  EXPECT_EQ(one.column, 3);
}

TEST(Layout, CosinesAndSinesOfOneTensor) {
  const auto [cos, sin] = split_cos_sin(floats({2, 4}, {1, 2, 5, 6, 3, 4, 7, 8}));
  EXPECT_EQ(to_doubles(cos), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(to_doubles(sin), (std::vector<double>{5, 6, 7, 8}));
  const auto [re, im] = split_cos_sin(floats({2, 2, 2}, {1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(re.shape(), (Shape{2, 2}));
  EXPECT_EQ(to_doubles(re), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(to_doubles(im), (std::vector<double>{5, 6, 7, 8}));
}

TEST(Layout, OneAxis) {
  EXPECT_EQ(to_doubles(as_vector("f", "inv_freq", counting({1, 3, 1})).values), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(to_doubles(as_vector("f", "inv_freq", floats({2, 2}, {1, 2, 1, 2})).values), (std::vector<double>{1, 2}));
  EXPECT_THROW(as_vector("f", "inv_freq", counting({2, 2})), BadInput);
}

}  // namespace
}  // namespace ropewalk
