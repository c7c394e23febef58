// Positions on several axes: what a case file may say of them, and every kind of mistake in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cases/case.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/cases/inputs.hpp"
#include "tests/harness/cases/mistakes.hpp"

namespace ropewalk::test {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::int64_t>;

constexpr const char* kGood = R"({
  "schema_version": 1, "name": "s", "cases": [{
    "name": "c",
    "rope": {"head_dim": 16, "mrope_section": [2, 3, 3], "positions": {"tokens": [2, [1, 2, 3], 2]}},
    "dtype": "float32",
    "subjects": [{"name": "a", "recipe": "r", "device": "cpu"}],
    "checks": [{"relation": "accuracy"}]
  }]})";

std::vector<Case> read(const char* changes = "{}") {
  const Folder folder;
  return read_case_file(folder.write("c.json", changed(kGood, changes).dump()));
}

// Text counts on, an image starts where it stands on every axis, and text goes on after the largest number.
TEST(AxesCase, TokensAreCountedAsQwen2VlDoes) {
  const Case c = read()[0];
  EXPECT_EQ(c.id, "s/c/head_dim=16,mrope_section=2;3;3,positions=tokens(2+1x2x3+2)/float32");
  EXPECT_THAT(c.positions.axes, ElementsAre(Rows{0, 1, 2, 2, 2, 2, 2, 2, 5, 6}, Rows{0, 1, 2, 2, 2, 3, 3, 3, 5, 6},
                                            Rows{0, 1, 2, 3, 4, 2, 3, 4, 5, 6}));
  EXPECT_EQ(c.positions.count(), 10);
  EXPECT_EQ(c.positions.largest(), 6);
  EXPECT_EQ(c.rope.scaling.length, 7);
  EXPECT_EQ(c.rope.axes(), 3);
  const Tensor given = positions_tensor(c.positions, 3);
  EXPECT_EQ(given.shape(), (Shape{3, 10}));
  EXPECT_EQ(given.as<std::int64_t>()[13], 2);
}

TEST(AxesCase, TokensMayHaveTextAtWrittenPositions) {
  const Case c =
      read(R"({"/cases/0/rope/positions": {"tokens": [[1, 1, 2], {"from": 10, "to": 30, "step": 10}, 1]}})")[0];
  EXPECT_THAT(c.positions.axes,
              ElementsAre(Rows{0, 0, 10, 20, 30, 31}, Rows{0, 0, 10, 20, 30, 31}, Rows{0, 1, 10, 20, 30, 31}));
  EXPECT_THAT(c.id, testing::HasSubstr("positions=tokens(1x1x2+10..30;10+1)"));
}

TEST(AxesCase, EachAxisMayBeWrittenOut) {
  const Case c = read(R"({"/cases/0/rope/positions": {"axes": [[5, 0], [1, 1], [9, 2]]}})")[0];
  EXPECT_THAT(c.positions.axes, ElementsAre(Rows{5, 0}, Rows{1, 1}, Rows{9, 2}));
  EXPECT_THAT(c.id, testing::HasSubstr("positions=(5;0)(1;1)(9;2)"));
  EXPECT_EQ(c.positions.largest(), 9);
}

// Without axes of their own positions are those of text: the same on all.
TEST(AxesCase, OneListIsText) {
  const Case c = read(R"({"/cases/0/rope/positions": [0, 3, 9]})")[0];
  EXPECT_TRUE(c.positions.axes.empty());
  EXPECT_EQ(c.positions.at(1, 2), 3);
  EXPECT_THAT(positions_tensor(c.positions, 3).as<std::int64_t>(), ElementsAre(0, 3, 9, 0, 3, 9, 0, 3, 9));
  EXPECT_TRUE(read(R"({"/cases/0/rope/positions": {"tokens": [4, 2]}})")[0].positions.axes.empty());
}

TEST(AxesCase, SectionsAreAnAxisOfTheGridAsAListOfLists) {
  const auto cases = read(R"({"/cases/0/rope/mrope_section": [[2, 3, 3], [4, 2, 2]],
                             "/cases/0/rope/mrope_interleaved": [false]})");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_THAT(cases[1].rope.mrope_section, ElementsAre(4, 2, 2));
  EXPECT_THAT(cases[1].id, testing::HasSubstr("mrope_section=4;2;2"));
}

TEST(AxesCase, PairsTurnByTheirAxis) {
  EXPECT_THAT(axis_of_pairs(read()[0].rope), ElementsAre(0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_THAT(axis_of_pairs(read(R"({"/cases/0/rope/mrope_section": [4, 2, 2],
                                     "/cases/0/rope/mrope_interleaved": true})")[0]
                                .rope),
              ElementsAre(0, 1, 2, 0, 1, 2, 0, 0));
  const Rope axial =
      read(R"({"/cases/0/rope": {"head_dim": 8, "axial": true, "positions": {"tokens": [[2, 2]]}}})")[0].rope;
  EXPECT_THAT(axis_of_pairs(axial), ElementsAre(0, 0, 1, 1));
  const auto frequencies = frequencies_of(axial);  // 10000^(-2j/4), once for rows and once for columns
  EXPECT_THAT((std::vector{frequencies.head(0), frequencies.head(1), frequencies.head(2), frequencies.head(3)}),
              ElementsAre(1, 0.01, 1, 0.01));
}

// In attention text has one axis.
TEST(AxesCase, AttentionTakesThem) {
  EXPECT_EQ(read(R"({"/cases/0/attention": {"heads": 2, "kv_heads": 1}})")[0].rope.axes(), 3);
  EXPECT_EQ(
      read(R"({"/cases/0/attention": {"heads": 2, "kv_heads": 1}, "/cases/0/rope/positions": [0, 1]})")[0].rope.axes(),
      1);
}

TEST(AxesCase, AModelsSectionsReachTheCase) {
  const char* changes = R"({"/cases/0/rope": null, "/cases/0/model_config": ")" ROPEWALK_TEST_DIR
                        R"(/data/configs/Qwen3-VL-8B.json",
                            "/cases/0/positions": {"tokens": [3, [1, 8, 8], {"log_spaced": [100, "max_position"], "count": 9}]}})";
  const Case c = read(changes)[0];
  EXPECT_THAT(c.rope.mrope_section, ElementsAre(24, 20, 20));
  EXPECT_TRUE(c.rope.mrope_interleaved);
  EXPECT_EQ(c.positions.axes.size(), 3U);
  EXPECT_EQ(c.positions.largest(), 262143);
  EXPECT_THAT(c.id, testing::HasSubstr("tokens(3+1x8x8+log_spaced(100..max_position;9))"));
}

TEST(AxesCase, EveryMistakeIsOneLine) {
  const Mistake mistakes[] = {
      {R"({"/cases/0/rope/mrope_section": [2, 3, 4]})",
       "mrope_section: [2,3,4]: numbers with the sum 8 are needed: half of the rotary width; these make 9"},
      {R"({"/cases/0/rope/mrope_section": [8]})",
       "mrope_section: [8]: a number of pairs for each of 2 to 4 axes is needed"},
      {R"({"/cases/0/rope/mrope_section": [2, 0, 6]})",
       "mrope_section[1]: 0: a number of pairs from 1 to 32768 is needed"},
      {R"({"/cases/0/rope/mrope_section": [1, 1, 6], "/cases/0/rope/mrope_interleaved": true})",
       "mrope_section: [1,1,6]: interleaved: axis a takes the pairs a, a + 3, ... below 3 times its section, and there "
       "are 8 pairs"},
      {R"({"/cases/0/rope/mrope_section": null, "/cases/0/rope/mrope_interleaved": true})",
       "mrope_interleaved: true: this goes with mrope_section only"},
      {R"({"/cases/0/rope/axial": true})", "axial: true: either axial or mrope_section"},
      {R"({"/cases/0/rope": {"head_dim": 6, "axial": true, "positions": {"tokens": [[1, 2]]}}})",
       "axial: true: a rotary width that is a multiple of 4 is needed: each half has whole pairs; this is 6"},
      {R"({"/cases/0/rope": {"head_dim": 8, "axial": true, "scaling": "linear", "factor": 2, "positions": {"tokens": [[1, 2]]}}})",
       R"(scaling: "linear": axial positions go without scaling)"},
      {R"({"/cases/0/rope/mrope_section": null})",
       "positions: positions on 3 axes: positions on one axis; several need mrope_section or axial in the rope"},
      {R"({"/cases/0/rope/positions": {"axes": [[1, 2], [1, 2]]}})",
       "positions: positions on 2 axes: the rope turns by 3"},
      {R"({"/cases/0/rope/positions": {"axes": [[1, 2], [1], [1, 2]]}})",
       "positions.axes[1]: 1 positions: as many as the first axis has are needed, 2"},
      {R"({"/cases/0/rope/positions": {"axes": [[1, 2]]}})", "positions.axes: 1 lists: 2 to 4 axes are needed"},
      {R"({"/cases/0/rope/positions": {"axes": [[1, -2], [1, 2], [1, 2]]}})",
       "positions.axes[0][1]: -2: positions are 0 to 16777215"},
      {R"({"/cases/0/rope/positions": {"tokens": []}})",
       "positions.tokens: []: a list with at least one entry is needed"},
      {R"({"/cases/0/rope/positions": {"tokens": [2, 0]}})",
       "positions.tokens[1]: 0: a whole number from 1 to 16777216 is needed"},
      {R"({"/cases/0/rope/positions": {"tokens": [[1, 2, 3], [2, 3]]}})",
       "positions.tokens[1]: [2,3]: as many numbers as the grids before it have are needed, 3"},
      {R"({"/cases/0/rope/positions": {"tokens": [[4]]}})",
       "positions.tokens[0]: [4]: a grid has 2 to 4 numbers, one for each axis"},
      {R"({"/cases/0/rope/positions": {"tokens": [[4096, 4096, 2]]}})",
       "positions.tokens[0]: [4096,4096,2]: a grid of at most 16777216 places is needed"},
      {R"({"/cases/0/rope/positions": {"tokens": [5, {"from": 3, "to": 9}, [1, 1, 1]]}})",
       R"(positions.tokens[1]: {"from":3,"to":9}: positions from 5 on are needed: it is the next one)"},
      {R"({"/cases/0/rope/positions": {"tokens": [{"tokens": [1]}, [1, 1, 1]]}})",
       R"(positions.tokens[0]: {"tokens":[1]}: positions of one axis are needed here)"},
      {R"({"/cases/0/rope/positions": {"tokens": [[1, 1, 1]], "axes": []}})",
       "positions.tokens: [[1,1,1]]: unknown field; accepted: axes"},
  };
  expect_lines(Folder(), "c.json", kGood, mistakes, read_case_file,
               [](const char* line) { return std::string("c.json: cases[0].rope.") + line; });
}

}  // namespace
}  // namespace ropewalk::test
