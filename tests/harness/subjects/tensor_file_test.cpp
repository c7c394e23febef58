#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "harness/bad_input.hpp"
#include "harness/subjects/subject.hpp"
#include "harness/tensors/safetensors.hpp"
#include "tests/harness/subjects/problems.hpp"

namespace ropewalk {
namespace {

using ::testing::HasSubstr;

Tensor floats(Shape shape, std::vector<float> values) {
  Tensor tensor(DType::float32, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

Tensor integers(std::vector<std::int64_t> values) {
  Tensor tensor(DType::int64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<std::int64_t>().begin());
  return tensor;
}

class TensorFile : public ::testing::Test {
 protected:
  std::unique_ptr<Subject> subject(const std::map<std::string, Tensor>& tensors,
                                   const std::map<std::string, std::string>& map = {}) {
    SubjectSpec spec;
    spec.name = "dump";
    spec.tensors = folder_.path / "dump.safetensors";
    spec.map = map;
    spec.claims = "a-recipe";
    write_safetensors(spec.tensors, tensors);
    return make_tensor_file_subject(spec);
  }
  Stages all(const std::map<std::string, Tensor>& tensors, const Case& problem) {
    const auto made = subject(tensors);
    made->prepare(problem);
    return made->rows(0, problem.positions.count());
  }
  std::string complaint(const std::map<std::string, Tensor>& tensors, const Case& problem) {
    try {
      all(tensors, problem);
    } catch (const SubjectError& error) {
      return error.what();
    }
    return "no complaint";
  }

  TestFolder folder_;
  Case three_ = two_pairs(DType::float32);  // positions 0, 1, 2
};

TEST_F(TensorFile, DeliversStagesByTheirNames) {
  const auto made = subject({{"inv_freq", floats({2}, {1, 0.5})},
                             {"cos", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                             {"unrelated", floats({1}, {0})}});
  made->prepare(three_);
  const Stages block = made->rows(1, 2);
  ASSERT_EQ(block.size(), 2U);
  EXPECT_EQ(to_doubles(block.at("inv_freq")), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(to_doubles(block.at("cos")), (std::vector<double>{3, 4, 5, 6}));
  EXPECT_EQ(block.at("cos").shape(), (Shape{2, 2}));
  EXPECT_EQ(made->info().name, "dump");
  EXPECT_EQ(made->info().claims, "a-recipe");
  EXPECT_EQ(made->info().tensors, (folder_.path / "dump.safetensors").string());
}

TEST_F(TensorFile, DeliversStagesByAMap) {
  const std::map<std::string, Tensor> tensors{{"rope.cos_cached", floats({3, 2}, {1, 2, 3, 4, 5, 6})},
                                              {"cos", floats({3, 2}, {0, 0, 0, 0, 0, 0})}};
  const auto made = subject(tensors, {{"cos", "rope.cos_cached"}});
  made->prepare(three_);
  EXPECT_EQ(to_doubles(made->rows(0, 1).at("cos")), (std::vector<double>{1, 2}));
  EXPECT_THROW(subject(tensors, {{"cos", "nothing"}}), BadInput);
  EXPECT_THROW(subject(tensors, {{"cosine", "cos"}}), BadInput);
}

TEST_F(TensorFile, FilesWithoutUse) {
  SubjectSpec spec;
  spec.tensors = folder_.path / "missing.safetensors";
  EXPECT_THROW(make_tensor_file_subject(spec), BadInput);
  EXPECT_THROW(subject({{"something", floats({1}, {0})}}), BadInput);
  EXPECT_THROW(subject({{"positions", integers({0, 1, 2})}}), BadInput);
}

TEST_F(TensorFile, DropsLeadingAxesOfSizeOne) {
  const Stages got =
      all({{"sin", floats({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6})}, {"inv_freq", floats({1, 2}, {1, 2})}}, three_);
  EXPECT_EQ(got.at("sin").shape(), (Shape{3, 2}));
  EXPECT_EQ(got.at("inv_freq").shape(), (Shape{2}));
  // The only row is no axis to drop.
  EXPECT_EQ(all({{"sin", floats({1, 2}, {1, 2})}}, two_pairs(DType::float32, {0})).at("sin").shape(), (Shape{1, 2}));
  EXPECT_THAT(complaint({{"sin", floats({2, 3, 2}, std::vector<float>(12))}}, three_),
              HasSubstr("sin has shape [2, 3, 2]; accepted: [rows, pairs]"));
  EXPECT_THAT(complaint({{"sin", floats({6}, std::vector<float>(6))}}, three_), HasSubstr("sin has shape [6]"));
  EXPECT_THAT(complaint({{"inv_freq", floats({}, {1})}}, three_),
              HasSubstr("inv_freq has shape []; accepted: one axis"));
}

TEST_F(TensorFile, ReducesTheHalfLayout) {
  const Stages got =
      all({{"cos", floats({3, 4}, {1, 1, 1, 1, 2, 3, 2, 3, 4, 5, 4, 5})}, {"sin", floats({3, 2}, {1, 2, 3, 4, 5, 6})}},
          three_);
  EXPECT_EQ(to_doubles(got.at("cos")), (std::vector<double>{1, 1, 2, 3, 4, 5}));
  EXPECT_EQ(to_doubles(got.at("sin")), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(TensorFile, ReducesTheInterleavedLayout) {
  const Stages got = all({{"cos", floats({1, 3, 4}, {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5})}}, three_);
  EXPECT_EQ(to_doubles(got.at("cos")), (std::vector<double>{1, 1, 2, 3, 4, 5}));
}

TEST_F(TensorFile, ReducesTwoByteElements) {
  Tensor tensor(DType::bfloat16, {3, 4});
  for (int i = 0; i < 12; ++i) tensor.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(0x3f80 + i / 2);
  const Stages got = all({{"cos", tensor}}, two_pairs(DType::bfloat16));
  const auto bits = std::as_const(got.at("cos")).as<std::uint16_t>();
  EXPECT_EQ(std::vector(bits.begin(), bits.end()),
            (std::vector<std::uint16_t>{0x3f80, 0x3f81, 0x3f82, 0x3f83, 0x3f84, 0x3f85}));
}

TEST_F(TensorFile, RefusesFullWidthThatDiffersInOneBit) {
  EXPECT_THAT(
      complaint({{"cos", floats({3, 4}, {1, 1, 1, 1, 2, 3, 2, std::nextafter(3.0F, 4.0F), 4, 5, 4, 5})}}, three_),
      HasSubstr("4 columns for 2 pairs; accepted: 2, or twice as many with both halves or all neighbours equal "
                "in every bit; halves differ at cos[1, 3]; neighbours differ at cos[1, 1]"));
  EXPECT_THAT(complaint({{"cos", floats({3, 4}, {0, 1, -0.0F, 1, 2, 3, 2, 3, 4, 5, 4, 5})}}, three_),
              HasSubstr("halves differ at cos[0, 2]"));
  // One stage in each layout is none.
  EXPECT_THAT(complaint({{"cos", floats({3, 4}, {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5})},
                         {"sin", floats({3, 4}, {1, 1, 1, 1, 2, 3, 2, 3, 4, 5, 4, 5})}},
                        three_),
              HasSubstr("halves differ at cos[1, 2]; neighbours differ at sin[1, 1]"));
}

TEST_F(TensorFile, TakesNansAsTheyAre) {
  const float nan = std::nanf("");
  const Stages got = all({{"cos", floats({3, 4}, {1, nan, 1, nan, 2, 3, 2, 3, 4, 5, 4, 5})}}, three_);
  EXPECT_TRUE(std::isnan(to_doubles(got.at("cos"))[1]));
}

TEST_F(TensorFile, RefusesOtherWidths) {
  EXPECT_THAT(complaint({{"cos", floats({3, 3}, std::vector<float>(9))}}, three_),
              HasSubstr("cos has shape [3, 3]; the case has 2 pairs"));
  EXPECT_THAT(complaint({{"inv_freq", floats({4}, {1, 2, 1, 2})}}, three_),
              HasSubstr("inv_freq has shape [4]; the case has 2 pairs"));
}

TEST_F(TensorFile, RefusesOtherDTypes) {
  EXPECT_THAT(complaint({{"cos", floats({3, 2}, std::vector<float>(6))}}, two_pairs(DType::float16)),
              HasSubstr("cos is float32; accepted: float16, the dtype of the case"));
  EXPECT_THAT(complaint({{"angle", Tensor(DType::int32, {3, 2})}}, three_),
              HasSubstr("angle is int32; accepted: float64, float32, bfloat16, float16"));
  EXPECT_THAT(complaint({{"cos", Tensor(DType::float32, {3, 2})}, {"positions", floats({3}, {0, 1, 2})}}, three_),
              HasSubstr("positions is float32; accepted: int64"));
  EXPECT_EQ(all({{"angle", Tensor(DType::float64, {3, 2})}}, two_pairs(DType::bfloat16)).at("angle").dtype(),
            DType::float64);
}

TEST_F(TensorFile, FindsTheRowsOfTheCase) {
  const Tensor cosines = floats({4, 2}, {0, 10, 1, 11, 2, 12, 3, 13});
  // More rows than positions: row p is position p.
  EXPECT_EQ(to_doubles(all({{"cos", cosines}}, three_).at("cos")), (std::vector<double>{0, 10, 1, 11, 2, 12}));
  EXPECT_EQ(to_doubles(all({{"cos", cosines}}, two_pairs(DType::float32, {1, 3})).at("cos")),
            (std::vector<double>{1, 11, 3, 13}));
  // As many: in the case's order.
  EXPECT_EQ(to_doubles(all({{"cos", cosines}}, two_pairs(DType::float32, {7, 8, 9, 900})).at("cos")),
            to_doubles(cosines));
  // With positions: where the file says.
  const std::map<std::string, Tensor> placed{{"cos", cosines}, {"positions", integers({40, 10, 30, 20})}};
  const Stages got = all(placed, two_pairs(DType::float32, {10, 20, 40}));
  EXPECT_EQ(to_doubles(got.at("cos")), (std::vector<double>{1, 11, 3, 13, 0, 10}));
  EXPECT_EQ(to_doubles(got.at("positions")), (std::vector<double>{10, 20, 40}));
  const auto made = subject(placed);
  made->prepare(two_pairs(DType::float32, {10, 20, 40}));
  EXPECT_EQ(to_doubles(made->rows(1, 1).at("cos")), (std::vector<double>{3, 13}));
}

TEST_F(TensorFile, RefusesRowsThatDoNotBelong) {
  const Tensor two = floats({2, 2}, {1, 2, 3, 4}), three = floats({3, 2}, std::vector<float>(6));
  EXPECT_THAT(complaint({{"cos", two}}, three_), HasSubstr("the file has 2 rows; accepted: 3"));
  EXPECT_THAT(complaint({{"cos", three}}, two_pairs(DType::float32, {0, 3})),
              HasSubstr("the file has 3 rows; accepted: 2"));
  EXPECT_THAT(complaint({{"cos", Tensor(DType::float32, {0, 2})}}, three_), HasSubstr("the file has 0 rows"));
  EXPECT_THAT(complaint({{"cos", two}, {"sin", three}}, three_), HasSubstr("cos has 2 rows, sin has 3"));
  EXPECT_THAT(complaint({{"cos", three}, {"positions", integers({0, 1})}}, three_),
              HasSubstr("cos has 3 rows, positions has 2"));
  EXPECT_THAT(complaint({{"cos", three}, {"positions", integers({0, 1, 5})}}, three_),
              HasSubstr("positions of the file lacks position 2 of the case"));
  EXPECT_THAT(complaint({{"cos", three}, {"positions", integers({0, 1, 1})}}, three_),
              HasSubstr("positions has 1 twice"));
}

// Two pairs, one turning by each axis; rows (5, 0), (0, 7), (5, 0).
Case on_two_axes() {
  Case problem = two_pairs(DType::float32, {});
  problem.rope.mrope_section = {1, 1};
  problem.positions.axes = {{5, 0, 5}, {0, 7, 0}};
  return problem;
}

Tensor axes_of(Shape shape, std::vector<std::int64_t> values) { return integers(values).reshaped(std::move(shape)); }

TEST_F(TensorFile, FindsRowsOfSeveralAxes) {
  const Tensor three = floats({3, 2}, {0, 10, 1, 11, 2, 12}), two = floats({2, 2}, {0, 10, 1, 11});
  const Case problem = on_two_axes();
  // Without positions: the case's rows, in order.
  EXPECT_EQ(to_doubles(all({{"cos", three}}, problem).at("cos")), to_doubles(three));
  EXPECT_THAT(complaint({{"cos", floats({9, 2}, std::vector<float>(18))}}, problem),
              HasSubstr("the file has 9 rows and no positions; accepted: 3, one for each row of the case"));
  // In the case's order a row may be there twice; in another one each is found where it is.
  EXPECT_EQ(to_doubles(all({{"cos", three}, {"positions", axes_of({3, 2}, {5, 0, 0, 7, 5, 0})}}, problem).at("cos")),
            to_doubles(three));
  const Stages got = all({{"cos", two}, {"positions", axes_of({1, 2, 2}, {0, 7, 5, 0})}}, problem);
  EXPECT_EQ(to_doubles(got.at("cos")), (std::vector<double>{1, 11, 0, 10, 1, 11}));
  EXPECT_EQ(got.at("positions").shape(), (Shape{3, 2}));
  EXPECT_EQ(to_doubles(got.at("positions")), (std::vector<double>{5, 0, 0, 7, 5, 0}));
}

TEST_F(TensorFile, RefusesPositionsOfOtherAxes) {
  const Tensor two = floats({2, 2}, {0, 10, 1, 11}), three = floats({3, 2}, std::vector<float>(6));
  const Case problem = on_two_axes();
  const auto said = [&](const Tensor& cosines, const Tensor& positions) {
    return complaint({{"cos", cosines}, {"positions", positions}}, problem);
  };
  EXPECT_THAT(said(two, axes_of({2, 2}, {7, 0, 5, 0})),
              HasSubstr("positions of the file lacks position (0, 7) of the case"));
  EXPECT_THAT(said(three, axes_of({3, 2}, {0, 7, 5, 0, 0, 7})), HasSubstr("positions has (0, 7) twice"));
  EXPECT_THAT(said(two, axes_of({2, 3}, {7, 0, 5, 0, 0, 0})),
              HasSubstr("positions has shape [2, 3]; accepted: [rows, 2], or [rows] where all axes are alike"));
  EXPECT_THAT(said(two, axes_of({3, 2}, {7, 0, 5, 0, 0, 0})), HasSubstr("cos has 2 rows, positions has 3"));
}

TEST_F(TensorFile, PositionsOfTextAreAlikeOnAllAxes) {
  Case problem = on_two_axes();
  problem.positions = {0, {3, 8}};
  const Stages got = all({{"cos", floats({2, 2}, {0, 10, 1, 11})}, {"positions", integers({8, 3})}}, problem);
  EXPECT_EQ(to_doubles(got.at("cos")), (std::vector<double>{1, 11, 0, 10}));
  EXPECT_EQ(to_doubles(got.at("positions")), (std::vector<double>{3, 3, 8, 8}));
}

TEST_F(TensorFile, ServesOneCaseAfterAnother) {
  const auto made = subject({{"cos", floats({4, 2}, {0, 10, 1, 11, 2, 12, 3, 13})}});
  EXPECT_THROW(made->prepare(two_pairs(DType::float16)), SubjectError);
  made->prepare(two_pairs(DType::float32, {3}));
  EXPECT_EQ(to_doubles(made->rows(0, 1).at("cos")), (std::vector<double>{3, 13}));
  made->prepare(two_pairs(DType::float32, {0, 1}));
  EXPECT_EQ(to_doubles(made->rows(1, 1).at("cos")), (std::vector<double>{1, 11}));
}

}  // namespace
}  // namespace ropewalk
