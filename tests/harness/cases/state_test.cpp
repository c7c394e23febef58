// The block state: which rows each call serves, how its lengths stand in ids, what is refused.
#include "harness/cases/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/cases/mistakes.hpp"

namespace ropewalk::test {
namespace {

using testing::ElementsAre;

constexpr const char* kGood = R"({
  "schema_version": 1, "name": "s", "cases": [{
    "name": "c",
    "rope": {"head_dim": 8, "scaling": "dynamic", "factor": 2, "max_position_embeddings": 4},
    "state": {"lengths": [3, 4, 6, 2, 2]},
    "dtype": "float32",
    "subjects": [{"name": "a", "recipe": "r", "device": "cpu"}],
    "checks": [{"relation": "accuracy"}]
  }]})";

Json good() { return Json::parse(kGood); }

std::vector<Case> read(const Json& document) {
  const Folder folder;
  return read_case_file(folder.write("c.json", document.dump()));
}

TEST(State, ALongerCallServesItsNewRowsAnyOtherAllOfThem) {
  const std::vector<Case> calls = calls_of(read(good()).at(0));
  ASSERT_EQ(calls.size(), 5U);
  EXPECT_THAT(calls[0].positions.all(), ElementsAre(0, 1, 2));
  EXPECT_THAT(calls[1].positions.all(), ElementsAre(3));
  EXPECT_THAT(calls[2].positions.all(), ElementsAre(4, 5));
  EXPECT_THAT(calls[3].positions.all(), ElementsAre(0, 1));
  EXPECT_THAT(calls[4].positions.all(), ElementsAre(0, 1));
  for (std::size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(calls[i].rope.scaling.length, std::vector<double>({3, 4, 6, 2, 2})[i]);
  EXPECT_EQ(place_in(calls, 5), std::pair(std::size_t{2}, std::int64_t{1}));
  EXPECT_EQ(place_in(calls, 6), std::pair(std::size_t{3}, std::int64_t{0}));
  EXPECT_EQ(place_in(calls, 9), std::pair(std::size_t{4}, std::int64_t{1}));
}

TEST(State, WithoutACacheEachSequenceIsOneCall) {
  EXPECT_THAT(recomputed({{3, 4, 6, 2, 2}, 0}).lengths, ElementsAre(6, 2, 2));
  EXPECT_THAT(recomputed({{5, 4, 3}, 0}).lengths, ElementsAre(5, 4, 3));
  EXPECT_EQ(recomputed({{32, 33}, 32}).built_for, 32);
}

TEST(State, ACaseWithoutItIsItsOwnOneCall) {
  Case problem;
  problem.positions = {7, {}};
  ASSERT_EQ(calls_of(problem).size(), 1U);
  EXPECT_EQ(calls_of(problem)[0].positions.count(), 7);
}

TEST(State, IdsTellAllListsApart) {
  Json document = good();
  document["cases"][0]["state"]["lengths"] =
      Json::parse("[[3,4,5,6,7,8],[3,4,6,7,8],[3,4],[3,5],[8,3],[8,7,6],[1,2,3,1,2,3],[5]]");
  std::vector<std::string> lengths;
  for (const Case& cell : read(document)) lengths.push_back(cell.params["lengths"]);
  EXPECT_THAT(lengths, ElementsAre("3..8", "3;4;6..8", "3;4", "3;5", "8;3", "8;7;6", "1..3;1..3", "5"));
  EXPECT_EQ(read(good()).at(0).id,
            "s/c/head_dim=8,scaling=dynamic,factor=2,max_position_embeddings=4,lengths=3;4;6;2;2/float32");
}

constexpr Mistake kMistakes[] = {
    {R"({"/cases/0/state": []})", "state: []: an object with the fields lengths, built_for"},
    {R"({"/cases/0/state": {}})", "state.lengths: this field is missing"},
    {R"({"/cases/0/state/length": 4})",
     "state.length: 4: unknown field, did you mean lengths?; accepted: lengths, built_for"},
    {R"({"/cases/0/state/lengths": []})", "state.lengths: []: a list with at least one entry is needed"},
    {R"({"/cases/0/state/lengths": [[]]})", "state.lengths[0]: []: a list with at least one entry is needed"},
    {R"({"/cases/0/state/lengths": 4})", "state.lengths: 4: a list of the calls' lengths is needed"},
    {R"({"/cases/0/state/lengths": [[4], 5]})", "state.lengths[1]: 5: a list of the calls' lengths is needed"},
    {R"({"/cases/0/state/lengths": [0]})", "state.lengths[0]: 0: a whole number from 1 to 16777216 is needed"},
    {R"({"/cases/0/state/lengths": [4, -3]})", "state.lengths[1]: -3: a whole number from 1 to 16777216 is needed"},
    {R"({"/cases/0/state/lengths": [4.5]})", "state.lengths[0]: 4.5: a whole number is needed"},
    {R"({"/cases/0/state/lengths": ["4"]})", R"(state.lengths[0]: "4": a whole number is needed)"},
    {R"({"/cases/0/state/lengths": [16777217]})",
     "state.lengths[0]: 16777217: a whole number from 1 to 16777216 is needed"},
    {R"({"/cases/0/state/lengths": [[3, 4], [3, 4]]})",
     "state.lengths[1]: 3;4: two values of this field read alike in ids; each is needed once"},
    {R"({"/cases/0/state/built_for": 0})", "state.built_for: 0: a whole number from 1 to 16777216 is needed"},
    {R"({"/cases/0/state/built_for": 4})",
     "state.built_for: 4: with dynamic scaling a table is first built for max_position_embeddings"},
    {R"({"/cases/0/rope": null})", R"(state: {"lengths":[3,4,6,2,2]}: this goes with a rope block or a model_config)"},
    {R"({"/cases/0/attention": {}})",
     R"(state: {"lengths":[3,4,6,2,2]}: a table alone has calls; this does not go with attention)"},
    {R"({"/cases/0/rope": null, "/cases/0/lora": {}})",
     R"(state: {"lengths":[3,4,6,2,2]}: this does not go with a lora block)"},
    {R"({"/cases/0/positions": [1, 2]})", "positions: [1,2]: the lengths of the block state say this"},
    {R"({"/cases/0/rope/positions": [1, 2]})", "rope.positions: [1,2]: the lengths of the block state say this"},
    {R"({"/cases/0/rope/max_position": 4})", "rope.max_position: 4: the lengths of the block state say this"},
    {R"({"/cases/0/rope/length": 4})", "rope.length: 4: the lengths of the block state say this"},
    {R"({"/cases/0/subjects/0": {"tensors": "t.npy"}})",
     R"(subjects[0].tensors: "t.npy": it has no calls; with a state block recipes, programs, plugins)"},
    {R"({"/cases/0/subjects/0": {"recording": "r"}})",
     R"(subjects[0].recording: "r": it has no calls; with a state block recipes, programs, plugins)"},
    {R"({"/cases/0/subjects/0/variant": "decode"})", R"(subjects[0].variant: "decode": one of recomputed)"},
    {R"({"/cases/0/subjects/0/module_cast": "after"})",
     R"(subjects[0].module_cast: "after": true, false, or with a state block "after_build")"},
    {R"({"/cases/0/state": null, "/cases/0/positions": [1], "/cases/0/subjects/0/variant": "recomputed"})",
     R"(subjects[0].variant: "recomputed": this goes with a state block only)"},
    {R"({"/cases/0/state": null, "/cases/0/positions": [1], "/cases/0/subjects/0/module_cast": "after_build"})",
     R"(subjects[0].module_cast: "after_build": this goes with a state block only; accepted: true, false)"},
};

TEST(State, EveryMistakeGivesItsLine) {
  expect_lines(Folder(), "c.json", kGood, kMistakes, read_case_file,
               [](const char* line) { return std::string("c.json: cases[0].") + line; });
}

TEST(State, TooManyCallsAreRefused) {
  const Folder folder;
  Json document = good();
  document["cases"][0]["state"]["lengths"] = std::vector<int>(4097, 1);
  const auto file = folder.write("c.json", document.dump());
  EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }),
            "c.json: cases[0].state.lengths: 4097 calls: at most 4096 calls");
  document["cases"][0]["state"]["lengths"] = {1, 16777216, 1};
  folder.write("c.json", document.dump());
  EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }),
            "c.json: cases[0].state.lengths: 16777217 rows in all calls: at most 16777216");
}

TEST(State, AModelsOwnConfigMayStandInPlaceOfTheRopeBlock) {
  const Folder folder;
  folder.write("m.json", R"({"model_type": "llama", "rope_theta": 10000, "hidden_size": 64, "num_attention_heads": 8,
      "max_position_embeddings": 4, "rope_scaling": {"type": "dynamic", "factor": 2}})");
  const auto file =
      folder.write("c.json", changed(kGood, R"({"/cases/0/rope": null, "/cases/0/model_config": "m.json"})").dump());
  const Case cell = read_case_file(file).at(0);
  EXPECT_EQ(cell.id, "s/c/model_config=m,lengths=3;4;6;2;2/float32");
  EXPECT_EQ(cell.rope.scaling.max_position_embeddings, 4);
  EXPECT_EQ(calls_of(cell).at(2).rope.scaling.length, 6);
  for (const char* rope : {"{}", R"({"head_dim":64})", "[]"}) {
    const std::string both = R"({"/cases/0/model_config": "m.json", "/cases/0/rope": )" + std::string(rope) + "}";
    folder.write("c.json", changed(kGood, both.c_str()).dump());
    EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }),
              "c.json: cases[0].rope: " + std::string(rope) +
                  ": the model_config and the lengths of the block state say all that stands here; leave it out");
  }
}

}  // namespace
}  // namespace ropewalk::test
