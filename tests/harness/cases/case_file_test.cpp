// What a case file says, expanded: order, ids, defaults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cases/case.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

using testing::ElementsAre;

constexpr const char* kGood = R"({
  "schema_version": 1, "name": "suite", "cases": [{
    "name": "one",
    "rope": {"head_dim": 64, "max_position": 16},
    "dtype": "float32",
    "subjects": [{"recipe": "hf", "device": "cpu"}, {"recipe": "hf", "device": "cpu", "module_cast": true},
                 {"program": ["./bin/adapter", "--x"], "timeout_s": 2.5}, {"tensors": "dump/t.safetensors", "map": {"cos": "c"}},
                 {"plugin": "lib/libmine.so", "timeout_s": 5}],
    "checks": [{"relation": "accuracy"}]
  }]})";

std::vector<Case> read(const char* changes = "{}") {
  const Folder folder;
  return read_case_file(folder.write("c.json", changed(kGood, changes).dump()));
}

std::vector<std::string> ids(const std::vector<Case>& cases) {
  std::vector<std::string> out;
  for (const Case& c : cases) out.push_back(c.id);
  return out;
}

TEST(CaseFile, TheFirstFieldWrittenVariesSlowestAndTheDtypeFastest) {
  EXPECT_THAT(ids(read(R"({"/cases/0/rope": {"base": [10000, 1e6], "head_dim": [64, 128], "max_position": 8},
                           "/cases/0/dtype": ["float32", "float16"]})")),
              ElementsAre("suite/one/base=10000,head_dim=64,max_position=8/float32",
                          "suite/one/base=10000,head_dim=64,max_position=8/float16",
                          "suite/one/base=10000,head_dim=128,max_position=8/float32",
                          "suite/one/base=10000,head_dim=128,max_position=8/float16",
                          "suite/one/base=1000000,head_dim=64,max_position=8/float32",
                          "suite/one/base=1000000,head_dim=64,max_position=8/float16",
                          "suite/one/base=1000000,head_dim=128,max_position=8/float32",
                          "suite/one/base=1000000,head_dim=128,max_position=8/float16"));
}

TEST(CaseFile, IdsListWhatTheAuthorWroteInPlainNumbers) {
  EXPECT_THAT(ids(read()), ElementsAre("suite/one/head_dim=64,max_position=16/float32"));
  EXPECT_THAT(
      ids(read(
          R"({"/cases/0/rope/base": [5e5, 1000000.0, 1e22, 1e-7, 12345.678], "/cases/0/rope/partial_rotary_factor": 0.5})")),
      ElementsAre(
          "suite/one/head_dim=64,max_position=16,base=500000,partial_rotary_factor=0.5/float32",
          "suite/one/head_dim=64,max_position=16,base=1000000,partial_rotary_factor=0.5/float32",
          "suite/one/head_dim=64,max_position=16,base=10000000000000000000000,partial_rotary_factor=0.5/float32",
          "suite/one/head_dim=64,max_position=16,base=0.0000001,partial_rotary_factor=0.5/float32",
          "suite/one/head_dim=64,max_position=16,base=12345.678,partial_rotary_factor=0.5/float32"));
}

TEST(CaseFile, ParametersReachTheCase) {
  const Case c = read(
      R"({"/cases/0/rope/base": 1e6, "/cases/0/rope/head_dim": 80, "/cases/0/rope/partial_rotary_factor": 0.25})")[0];
  EXPECT_EQ(c.rope.head_dim, 80);
  EXPECT_EQ(c.rope.base, 1e6);
  EXPECT_EQ(c.rope.rotary_dim(), 20);
  EXPECT_EQ(c.positions.count(), 16);
  EXPECT_EQ(c.positions.largest(), 15);
  EXPECT_EQ(c.dtype, DType::float32);
  EXPECT_EQ(c.suite, "suite");
  EXPECT_EQ(c.name, "one");
  EXPECT_EQ(c.params.dump(), R"({"head_dim":80,"max_position":16,"base":1000000,"partial_rotary_factor":0.25})");
}

struct PositionForm {
  const char* written;
  const char* text;
  std::vector<std::int64_t> list;
};

TEST(CaseFile, PositionsInEveryForm) {
  const PositionForm forms[] = {
      {"[0, 3, 9]", "0;3;9", {0, 3, 9}},
      {"[1, 2, 3, 4, 5, 6, 7, 8, 90]", "1;2;..;90(9)", {1, 2, 3, 4, 5, 6, 7, 8, 90}},
      {R"({"from": 2, "to": 5})", "2..5", {2, 3, 4, 5}},
      {R"({"from": 0, "to": 10, "step": 4})", "0..10;4", {0, 4, 8}},
      {R"({"log_spaced": [1, 16], "count": 5})", "log_spaced(1..16;5)", {1, 2, 4, 8, 16}},
      {R"({"log_spaced": [0, 16], "count": 6})", "log_spaced(0..16;6)", {0, 1, 2, 4, 8, 16}},
      {R"({"log_spaced": [0, 4], "count": 64})", "log_spaced(0..4;64)", {0, 1, 2, 3, 4}},
      {R"({"log_spaced": [0, 1], "count": 9})", "log_spaced(0..1;9)", {0, 1}},
      {R"({"log_spaced": [0, 7], "count": 2})", "log_spaced(0..7;2)", {0, 7}},
  };
  for (const PositionForm& form : forms) {
    for (const char* place : {"/cases/0/rope/positions", "/cases/0/positions"}) {
      const auto cases = read(
          (std::string(R"({"/cases/0/rope/max_position": null, ")") + place + "\": " + form.written + "}").c_str());
      ASSERT_EQ(cases.size(), 1U);
      EXPECT_EQ(cases[0].positions.list, form.list) << form.written;
      EXPECT_EQ(cases[0].id, std::string("suite/one/head_dim=64,positions=") + form.text + "/float32");
    }
  }
}

TEST(CaseFile, LogSpacedPositionsToAMillionKeepTheirEnds) {
  const auto list =
      read(R"({"/cases/0/rope": {"head_dim": 64, "positions": {"log_spaced": [0, 1048575], "count": 64}}})")[0]
          .positions.list;
  EXPECT_EQ(list.front(), 0);
  EXPECT_EQ(list.back(), 1048575);
  EXPECT_LE(list.size(), 64U);
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), std::less_equal<>()));
}

TEST(CaseFile, SeveralPositionSetsAreAListOfThem) {
  EXPECT_THAT(
      ids(read(R"({"/cases/0/rope": {"head_dim": 64, "positions": [[1, 2], {"from": 0, "to": 9}]}})")),
      ElementsAre("suite/one/head_dim=64,positions=1;2/float32", "suite/one/head_dim=64,positions=0..9/float32"));
}

TEST(CaseFile, SubjectsHaveNamesAndPathsOfTheirFile) {
  const Folder folder;
  const auto subjects = read_case_file(folder.write("c.json", kGood))[0].subjects;
  ASSERT_EQ(subjects.size(), 5U);
  EXPECT_EQ(subjects[0].name, "hf@cpu");
  EXPECT_EQ(subjects[0].module_cast, ModuleCast::none);
  EXPECT_EQ(subjects[1].name, "hf@cpu+module_cast");
  EXPECT_EQ(subjects[1].module_cast, ModuleCast::before_table);
  EXPECT_EQ(subjects[2].name, "adapter");
  EXPECT_THAT(subjects[2].program, ElementsAre("./bin/adapter", "--x"));
  EXPECT_EQ(subjects[2].timeout_s, 2.5);
  EXPECT_EQ(subjects[3].name, "t.safetensors");
  EXPECT_EQ(subjects[3].tensors, folder.path() / "dump/t.safetensors");
  EXPECT_EQ(subjects[3].map.at("cos"), "c");
  EXPECT_EQ(subjects[0].timeout_s, 60);
  EXPECT_EQ(subjects[4].name, "libmine.so");
  EXPECT_EQ(subjects[4].plugin, folder.path() / "lib/libmine.so");
  EXPECT_EQ(subjects[4].timeout_s, 5);
}

TEST(CaseFile, DefaultStagesDependOnTheRelation) {
  const auto checks = read(R"({"/cases/0/checks": [{"relation": "accuracy"}, {"relation": "invariants"},
                               {"relation": "identity", "between": ["hf@cpu", "adapter"]}]})")[0]
                          .checks;
  EXPECT_THAT(checks[0].stages, ElementsAre("positions", "inv_freq", "angle", "cos", "sin"));
  EXPECT_THAT(checks[1].stages, ElementsAre("positions", "inv_freq", "angle", "cos", "sin"));
  EXPECT_THAT(checks[2].stages, ElementsAre("cos", "sin"));
  EXPECT_THAT(checks[2].between, ElementsAre("hf@cpu", "adapter"));
  EXPECT_TRUE(checks[0].default_stages);
  EXPECT_FALSE(read(R"({"/cases/0/checks/0/stages": ["cos"]})")[0].checks[0].default_stages);
  EXPECT_TRUE(checks[0].expect.empty());
  EXPECT_FALSE(checks[0].expect_any_fail);
}

CheckSpec with_expect(const std::string& expect) {
  return read((R"({"/cases/0/checks/0/expect": )" + expect + "}").c_str())[0].checks[0];
}

TEST(CaseFile, ABareFailIsOneFailureAnywhere) {
  for (const char* form : {R"("fail")", R"({"verdict": "fail"})", R"({"verdict": "fail", "first_stage": "angle"})"}) {
    const CheckSpec check = with_expect(form);
    EXPECT_TRUE(check.expect_any_fail);
    EXPECT_TRUE(check.expect.empty());
    EXPECT_EQ(check.any_first_stage, std::string(form).find("angle") == std::string::npos ? "" : "angle");
  }
}

TEST(CaseFile, OtherBareVerdictsHoldForAllResults) {
  for (const char* form : {R"("untrusted")", R"({"verdict": "untrusted"})"}) {
    const CheckSpec check = with_expect(form);
    EXPECT_FALSE(check.expect_any_fail);
    ASSERT_EQ(check.expect.size(), 1U);
    EXPECT_EQ(check.expect[0].verdict, Verdict::untrusted);
    EXPECT_TRUE(check.expect[0].where.empty());
  }
}

TEST(CaseFile, AListOfExpectationsKeepsItsOrderAndPlaces) {
  const CheckSpec check = with_expect(R"([{"where": {"stage": ["cos", "sin"], "head_dim": 64.0, "device": "cpu"},
                                           "verdict": "fail", "first_stage": "cos"},
                                          {"where": {}, "verdict": "skipped"}])");
  EXPECT_FALSE(check.expect_any_fail);
  ASSERT_EQ(check.expect.size(), 2U);
  EXPECT_EQ(check.expect[0].where, (nlohmann::json{{"stage", {"cos", "sin"}}, {"head_dim", 64}, {"device", "cpu"}}));
  EXPECT_EQ(check.expect[0].verdict, Verdict::fail);
  EXPECT_EQ(check.expect[0].first_stage, "cos");
  EXPECT_EQ(check.expect[1].verdict, Verdict::skipped);
}

TEST(CaseFile, CellsOfOneDeclarationShareItsNumber) {
  const Folder folder;
  Json document = changed(kGood, R"({"/cases/0/dtype": ["float32", "float16"]})");
  document["cases"].push_back(document["cases"][0]);
  document["cases"][1]["name"] = "two";
  const auto cases = read_case_file(folder.write("c.json", document.dump()));
  ASSERT_EQ(cases.size(), 4U);
  EXPECT_EQ(cases[0].declaration, cases[1].declaration);
  EXPECT_NE(cases[1].declaration, cases[2].declaration);
}

TEST(CaseFile, LimitsAndReasonsAreKept) {
  const auto check = read(R"({"/cases/0/checks/0/limit": {"value": 2, "unit": "ulp", "source": "theirs"},
                              "/cases/0/checks/0/allow_skip": ["no GPU"]})")[0]
                         .checks[0];
  ASSERT_TRUE(check.limit);
  EXPECT_EQ(check.limit->value, 2);
  EXPECT_EQ(check.limit->unit, "ulp");
  EXPECT_EQ(check.limit->source, "theirs");
  EXPECT_THAT(check.allow_skip, ElementsAre("no GPU"));
}

TEST(CaseFile, TheSeedGridHasAllItsCells) {
  const auto cases = read_case_file(std::filesystem::path(ROPEWALK_SOURCE_DIR) / "cases/seed.json");
  const auto before = std::count_if(cases.begin(), cases.end(), [](const Case& c) { return c.name == "before"; });
  EXPECT_EQ(before, 3 * 3 * 3 * 4);
  EXPECT_EQ(cases[0].id, "seed-rope/before/head_dim=64,base=10000,max_position=1024/float32");
}

}  // namespace
}  // namespace ropewalk::test
