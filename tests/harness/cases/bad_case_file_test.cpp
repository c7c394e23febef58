// Every kind of bad input in a case file gives one line that names the file, the field, the value and what is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cases/case.hpp"
#include "tests/harness/cases/mistakes.hpp"

namespace ropewalk::test {
namespace {

constexpr const char* kGood = R"({
  "schema_version": 1, "name": "suite", "cases": [{
    "name": "one",
    "rope": {"head_dim": [64, 128], "base": 10000, "max_position": 16},
    "dtype": ["float32", "bfloat16"],
    "subjects": [{"name": "a", "recipe": "r", "device": "cpu"}, {"name": "b", "program": ["p"]}],
    "checks": [{"relation": "accuracy"}, {"relation": "identity", "between": ["a", "b"], "stages": ["cos"]}]
  }]})";

const Mistake kMistakes[] = {
    // The document
    {R"({"/schema_version": null})", "schema_version: this field is missing"},
    {R"({"/schema_version": 2})", "schema_version: 2: this version reads schema_version 1"},
    {R"({"/schema_version": "1"})", R"(schema_version: "1": this version reads schema_version 1)"},
    {R"({"/name": null})", "name: this field is missing"},
    {R"({"/name": "a/b"})", R"(name: "a/b": a name is made of letters, digits and . _ @ + -)"},
    {R"({"/name": ""})", R"(name: "": a text is needed)"},
    {R"({"/cases": []})", "cases: []: a list with at least one entry is needed"},
    {R"({"/cases": {}})", "cases: {}: a list with at least one entry is needed"},
    {R"({"/cases/1": 5})",
     "cases[1]: 5: an object with the fields note, name, model_config, layer_type, rope, positions, attention, "
     "lora, state, dtype, subjects, checks"},
    {R"({"/cse": 1})", "cse: 1: unknown field, did you mean cases?; accepted: schema_version, note, name, cases"},
    // The case
    {R"({"/cases/0/dtypes": 1})",
     "cases[0].dtypes: 1: unknown field, did you mean dtype?; accepted: note, name, model_config, layer_type, rope, "
     "positions, attention, lora, state, dtype, subjects, checks"},
    {R"({"/cases/0/attention": {}})", "cases[0].attention.heads: this field is missing"},
    {R"({"/cases/0/dtype": null})", "cases[0].dtype: this field is missing"},
    {R"({"/cases/0/dtype": "int64"})", R"(cases[0].dtype: "int64": one of float64, float32, bfloat16, float16)"},
    {R"({"/cases/0/dtype": ["float32", "float61"]})",
     R"(cases[0].dtype[1]: "float61": one of float64, float32, bfloat16, float16, did you mean float64?)"},
    {R"({"/cases/0/dtype": ["float32", "float32"]})", R"(cases[0].dtype[1]: "float32": each one once)"},
    {R"({"/cases/0/dtype": []})", "cases[0].dtype: []: a list with at least one entry is needed"},
    // The rope block
    {R"({"/cases/0/rope/head_dim": null})", "cases[0].rope.head_dim: this field is missing"},
    {R"({"/cases/0/rope/head_dim": 7})",
     "cases[0].rope.head_dim: 7 x partial_rotary_factor 1: an even rotary width of at least 2 is needed; this is 7"},
    {R"({"/cases/0/rope/head_dim": [64, 20], "/cases/0/rope/partial_rotary_factor": 0.25})",
     "cases[0].rope.head_dim[1]: 20 x partial_rotary_factor 0.25: an even rotary width of at least 2 is needed; this "
     "is 5"},
    {R"({"/cases/0/rope/head_dim": 0})", "cases[0].rope.head_dim: 0: a whole number from 2 to 65536 is needed"},
    {R"({"/cases/0/rope/head_dim": -64})", "cases[0].rope.head_dim: -64: a whole number from 2 to 65536 is needed"},
    {R"({"/cases/0/rope/head_dim": 64.5})", "cases[0].rope.head_dim: 64.5: a whole number is needed"},
    {R"({"/cases/0/rope/head_dim": "64"})", R"(cases[0].rope.head_dim: "64": a whole number is needed)"},
    {R"({"/cases/0/rope/head_dim": true})", "cases[0].rope.head_dim: true: a whole number is needed"},
    {R"({"/cases/0/rope/head_dim": 18446744073709551615})",
     "cases[0].rope.head_dim: 18446744073709551615: a whole number below 2^63"},
    {R"({"/cases/0/rope/head_dim": [64, 64.0]})",
     "cases[0].rope.head_dim[1]: 64: two values of this field read alike in ids; each is needed once"},
    {R"({"/cases/0/rope/base": 0})", "cases[0].rope.base: 0: a number above 0 is needed"},
    {R"({"/cases/0/rope/base": 1e-320})", "cases[0].rope.base: 1e-320: a normal number is needed: at least 2.3e-308"},
    {R"({"/cases/0/rope/base": [1e4, -1]})", "cases[0].rope.base[1]: -1: a number above 0 is needed"},
    {R"({"/cases/0/rope/base": "1e4"})", R"(cases[0].rope.base: "1e4": a number is needed)"},
    {R"({"/cases/0/rope/partial_rotary_factor": 1.5})",
     "cases[0].rope.partial_rotary_factor: 1.5: a number above 0, at most 1, is needed"},
    {R"({"/cases/0/rope/head_dims": 64})",
     "cases[0].rope.head_dims: 64: unknown field, did you mean head_dim?; accepted: head_dim, base, max_position, "
     "positions, partial_rotary_factor, scaling, factor, original_max_position_embeddings, max_position_embeddings, "
     "length, beta_fast, beta_slow, truncate, attention_factor, mscale, mscale_all_dim, low_freq_factor, "
     "high_freq_factor, short_factor, long_factor, proportion, mrope_section, mrope_interleaved, axial"},
    {R"({"/cases/0/rope/max_position": 0})",
     "cases[0].rope.max_position: 0: a whole number from 1 to 16777216 is needed"},
    {R"({"/cases/0/rope/max_position": null})", "cases[0].rope.max_position: this field is missing"},
    {R"({"/cases/0/rope/positions": [1]})", "cases[0].rope.max_position: 16: either max_position or positions"},
    {R"({"/cases/0/positions": [1]})", "cases[0].rope.max_position: 16: either max_position or positions"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": [1], "/cases/0/positions": [1]})",
     "cases[0].positions: [1]: positions stand in the rope block or beside it"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": []})",
     "cases[0].rope.positions: []: a list with at least one entry is needed"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": [0, -1]})",
     "cases[0].rope.positions[1]: -1: positions are 0 to 16777215"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": [0, 5, 3]})",
     "cases[0].rope.positions[2]: 3: positions ascend, each one once"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": [0, 5, 5]})",
     "cases[0].rope.positions[2]: 5: positions ascend, each one once"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": [[0, 5], [5, 1]]})",
     "cases[0].rope.positions[1][1]: 1: positions ascend, each one once"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": [0, 16777216]})",
     "cases[0].rope.positions[1]: 16777216: positions are 0 to 16777215"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": "all"})",
     R"(cases[0].rope.positions: "all": a list, {"from", "to", "step"}, {"log_spaced", "count"}, {"axes"} or {"tokens"} is needed)"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"from": 5, "to": 4}})",
     R"(cases[0].rope.positions.to: 4: the last position is not below the first, "from")"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"from": 0, "to": 4, "step": 0}})",
     "cases[0].rope.positions.step: 0: a whole number from 1 to 16777216 is needed"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"log_spaced": [0, 9]}})",
     "cases[0].rope.positions.count: this field is missing"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"log_spaced": [0, 9, 10], "count": 4}})",
     "cases[0].rope.positions.log_spaced: [0,9,10]: the first and the last position: [a, b]"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"log_spaced": [9, 9], "count": 4}})",
     "cases[0].rope.positions.log_spaced[1]: 9: the last position is above the first"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"log_spaced": [0, 9], "count": 1}})",
     "cases[0].rope.positions.count: 1: at least 2, for both ends"},
    {R"({"/cases/0/rope/max_position": null, "/cases/0/rope/positions": {"log_spaced": [0, 9], "counts": 1}})",
     "cases[0].rope.positions.counts: 1: unknown field, did you mean count?; accepted: log_spaced, count"},
    // Subjects
    {R"({"/cases/0/subjects": []})", "cases[0].subjects: []: a list with at least one entry is needed"},
    {R"({"/cases/0/subjects/0": {}})",
     "cases[0].subjects[0]: {}: exactly one of recipe (with device), program, plugin, tensors and recording is needed"},
    {R"({"/cases/0/subjects/1": {"program": ["p"], "tensors": "t"}})",
     R"(cases[0].subjects[1]: {"program":["p"],"tensors":"t"}: exactly one of recipe (with device), program, plugin, tensors and recording is needed)"},
    {R"({"/cases/0/subjects/0/device": null})", "cases[0].subjects[0].device: this field is missing"},
    {R"({"/cases/0/subjects/1/device": "cpu"})", R"(cases[0].subjects[1].device: "cpu": this goes with recipe only)"},
    {R"({"/cases/0/subjects/1/module_cast": true})",
     "cases[0].subjects[1].module_cast: true: this goes with recipe only"},
    {R"({"/cases/0/subjects/0/module_cast": 1})",
     "cases[0].subjects[0].module_cast: 1: true, false, or with a state block \"after_build\""},
    {R"({"/cases/0/subjects/0/map": {}})", "cases[0].subjects[0].map: {}: this goes with tensors only"},
    {R"({"/cases/0/subjects/0/timeout_s": 5})", "cases[0].subjects[0].timeout_s: 5: this goes with program only"},
    {R"({"/cases/0/subjects/1/timeout_s": 0})",
     "cases[0].subjects[1].timeout_s: 0: a number of seconds above 0 is needed"},
    {R"({"/cases/0/subjects/1/program": "p"})",
     R"(cases[0].subjects[1].program: "p": a list with at least one entry is needed)"},
    {R"({"/cases/0/subjects/1/program": ["p", 1]})", "cases[0].subjects[1].program[1]: 1: a text is needed"},
    {R"({"/cases/0/subjects/1": {"name": "b", "tensors": "t", "map": {"cosine": "c"}}})",
     R"(cases[0].subjects[1].map.cosine: "c": unknown field, did you mean cos?; accepted: positions, inv_freq, angle, cos, sin)"},
    {R"({"/cases/0/subjects/1/name": "a"})",
     R"(cases[0].subjects[1]: a: two subjects have this name; give each its own "name")"},
    {R"({"/cases/0/subjects/1": {"name": "b", "plugin": ["x.so"]}})",
     R"(cases[0].subjects[1].plugin: ["x.so"]: a text is needed)"},
    {R"({"/cases/0/subjects/1": {"name": "b", "plugin": "x.so", "program": ["p"]}})",
     R"(cases[0].subjects[1]: {"name":"b","plugin":"x.so","program":["p"]}: exactly one of recipe (with device), program, plugin, tensors and recording is needed)"},
    {R"({"/cases/0/subjects/1": {"name": "b", "recording": "x", "device": "cuda"}})",
     R"(cases[0].subjects[1].device: "cuda": a recording has a device of its own; leave this out)"},
    {R"({"/cases/0/subjects/1": {"name": "b", "recording": "x", "tensors": "t"}})",
     R"(cases[0].subjects[1]: {"name":"b","recording":"x","tensors":"t"}: exactly one of recipe (with device), program, plugin, tensors and recording is needed)"},
    {R"({"/cases/0/subjects/1": {"name": "b", "recording": "x", "module_cast": true}})",
     R"(cases[0].subjects[1].module_cast: true: this goes with recipe only)"},
    // Checks
    {R"({"/cases/0/checks": []})", "cases[0].checks: []: a list with at least one entry is needed"},
    {R"({"/cases/0/checks/0/relation": null})", "cases[0].checks[0].relation: this field is missing"},
    {R"({"/cases/0/checks/0/relation": "acuracy"})",
     R"(cases[0].checks[0].relation: "acuracy": one of accuracy, identity, invariants, equivalence, did you mean accuracy?)"},
    {R"({"/cases/0/checks/0/relation": "equivalence"})",
     R"(cases[0].checks[0].relation: "equivalence": of tables one of accuracy, identity, invariants)"},
    {R"({"/cases/0/checks/0/stages": ["scores"]})",
     R"(cases[0].checks[0].stages[0]: "scores": one of positions, inv_freq, angle, cos, sin)"},
    {R"({"/cases/0/checks/0/stages": ["cos", "cos"]})", R"(cases[0].checks[0].stages[1]: "cos": each one once)"},
    {R"({"/cases/0/checks/0/stages": []})", "cases[0].checks[0].stages: []: a list with at least one entry is needed"},
    {R"({"/cases/0/checks/0/subjects": ["c"]})", R"(cases[0].checks[0].subjects[0]: "c": one of a, b)"},
    {R"({"/cases/0/checks/0/between": ["a", "b"]})",
     R"(cases[0].checks[0].between: ["a","b"]: this goes with relations identity and equivalence only)"},
    {R"({"/cases/0/checks/1/between": null})", "cases[0].checks[1].between: this field is missing"},
    {R"({"/cases/0/checks/1/between": ["a"]})", R"(cases[0].checks[1].between: ["a"]: two subjects are needed)"},
    {R"({"/cases/0/checks/1/between": ["a", "a"]})", R"(cases[0].checks[1].between[1]: "a": each one once)"},
    {R"({"/cases/0/checks/1/between": ["a", "x"]})", R"(cases[0].checks[1].between[1]: "x": one of a, b)"},
    {R"({"/cases/0/checks/1/subjects": ["a"]})",
     R"(cases[0].checks[1].subjects: ["a"]: identity and equivalence take "between" with two subjects instead)"},
    {R"({"/cases/0/checks/2": {"relation": "accuracy", "subjects": ["b"], "stages": ["sin"]}})",
     R"(cases[0].checks[2]: accuracy/b/sin: an earlier check has this id; ids are unique)"},
    {R"({"/cases/0/checks/0/accepted": ""})", R"(cases[0].checks[0].accepted: "": a text is needed)"},
    {R"({"/cases/0/checks/0/accepted": "r.json", "/cases/0/checks/0/expect": "fail"})",
     R"(cases[0].checks[0].accepted: "r.json": this takes the place of expect)"},
    {R"({"/cases/0/subjects": null})", "cases[0].subjects: this field is missing"},
    {R"({"/cases/0/checks": null})", "cases[0].checks: this field is missing"},
    {R"({"/cases/0/checks/0/allow_skip": []})",
     "cases[0].checks[0].allow_skip: []: a list with at least one entry is needed"},
    {R"({"/cases/0/checks/0/limit": {"value": 1, "unit": "ulp"}})",
     "cases[0].checks[0].limit.source: this field is missing"},
    {R"({"/cases/0/checks/0/limit": {"value": -1, "unit": "ulp", "source": "s"}})",
     "cases[0].checks[0].limit.value: -1: a number of at least 0 is needed"},
    {R"({"/cases/0/checks/0/limit": {"value": 1, "unit": "ulps", "source": "s"}})",
     R"(cases[0].checks[0].limit.unit: "ulps": one of abs, ulp, did you mean ulp?)"},
    {R"({"/cases/0/checks/1/limit": {"value": 1, "unit": "ulp", "source": "s"}})",
     R"(cases[0].checks[1].limit: {"value":1,"unit":"ulp","source":"s"}: this goes with relation accuracy only)"},
    // Expectations
    {R"({"/cases/0/checks/0/expect": "failed"})",
     R"(cases[0].checks[0].expect: "failed": one of pass, fail, untrusted, skipped, error, did you mean fail?)"},
    {R"({"/cases/0/checks/0/expect": 5})",
     "cases[0].checks[0].expect: 5: one of pass, fail, untrusted, skipped, error"},
    {R"({"/cases/0/checks/0/expect": []})", "cases[0].checks[0].expect: []: a list with at least one entry is needed"},
    {R"({"/cases/0/checks/0/expect": {"first_stage": "cos"}})",
     "cases[0].checks[0].expect.verdict: this field is missing"},
    {R"({"/cases/0/checks/0/expect": {"verdict": "fail", "first_stage": "table"}})",
     R"(cases[0].checks[0].expect.first_stage: "table": one of positions, inv_freq, angle, cos, sin)"},
    {R"({"/cases/0/checks/0/expect": {"verdict": "pass", "first_stage": "cos"}})",
     R"(cases[0].checks[0].expect.first_stage: "cos": this goes with verdict fail only)"},
    {R"({"/cases/0/checks/0/expect": [{"verdict": "fail"}]})",
     "cases[0].checks[0].expect[0].where: this field is missing"},
    {R"({"/cases/0/checks/0/expect": [{"where": {"dim": 64}, "verdict": "fail"}]})",
     "cases[0].checks[0].expect[0].where.dim: 64: unknown field; accepted: head_dim, base, max_position, dtype, stage, "
     "subject, device, recipe"},
    {R"({"/cases/0/checks/0/expect": [{"where": {"dtype": "float16"}, "verdict": "fail"}]})",
     R"(cases[0].checks[0].expect[0].where.dtype: "float16": one of float32, bfloat16, did you mean bfloat16?)"},
    {R"({"/cases/0/checks/0/expect": [{"where": {"head_dim": [64, 65]}, "verdict": "fail"}]})",
     "cases[0].checks[0].expect[0].where.head_dim[1]: 65: one of 64, 128"},
    {R"({"/cases/0/checks/1/expect": [{"where": {"stage": "sin"}, "verdict": "fail"}]})",
     R"(cases[0].checks[1].expect[0].where.stage: "sin": one of cos)"},
};

TEST(BadCaseFile, EveryMistakeGivesItsLine) {
  expect_lines(Folder(), "c.json", kGood, kMistakes, read_case_file,
               [](const char* line) { return std::string("c.json: ") + line; });
}

TEST(BadCaseFile, TheGoodFileIsGood) {
  const Folder folder;
  EXPECT_EQ(read_case_file(folder.write("c.json", kGood)).size(), 4U);
}

TEST(BadCaseFile, NamesOfCasesAreUnique) {
  const Folder folder;
  Json document = Json::parse(kGood);
  document["cases"].push_back(document["cases"][0]);
  const auto file = folder.write("c.json", document.dump());
  EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }),
            R"(c.json: cases[1].name: "one": an earlier case has this name; names are unique)");
}

TEST(BadCaseFile, AProductOfListsThatIsTooLargeIsRefusedBeforeItIsMade) {
  const Folder folder;
  Json document = Json::parse(kGood);
  Json& rope = document["cases"][0]["rope"];
  rope["head_dim"] = rope["base"] = rope["max_position"] = Json::array();
  for (int i = 1; i <= 100; ++i)
    rope["head_dim"].push_back(2 * i), rope["base"].push_back(i), rope["max_position"].push_back(i);
  const auto file = folder.write("c.json", document.dump());
  EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }),
            "c.json: cases[0].rope: max_position: the product of all lists may have 100000 entries");
}

TEST(BadCaseFile, LongValuesAreCut) {
  const Folder folder;
  const auto file = folder.write("c.json", R"({"schema_version": 1, "name": ")" + std::string(5000, '/') + "\"}");
  const std::string line = complaint(folder, [&] { read_case_file(file); });
  EXPECT_LT(line.size(), 200U);
  EXPECT_THAT(line, testing::EndsWith("...: a name is made of letters, digits and . _ @ + -"));
}

struct Text {
  const char* text;
  const char* line;
};

TEST(BadCaseFile, WhatIsNoJsonGivesLineAndColumn) {
  const Text texts[] = {
      {"", "c.json: the file is empty; a JSON object is needed"},
      {" \n\t", "c.json: the file is empty; a JSON object is needed"},
      {"{\n  \"name\": }", "c.json: name: JSON syntax error at line 2, column 11: "},
      {"{\"cases\": [{\"name\": \"a\"}, {\"name\" 1}]}",
       "c.json: cases[1].name: JSON syntax error at line 1, column 35: "},
      {"{\"name\": \"\xff\"}", "c.json: name: JSON syntax error at line 1, column 11: "},
      {"{\"name\": NaN}", "c.json: name: JSON syntax error at line 1, column 10: "},
      {"{} {}", "c.json: JSON syntax error at line 1, column 4: "},
      {"{\"cases\": [{\"rope\": {\"base\": [1, 1e999]}}]}",
       "c.json: cases[0].rope.base[1]: 1e999: a finite number is needed (float64 ends at 1.8e308)"},
      {"{\"cases\": [{\"rope\": {\"base\": 1, \"base\": 2}}]}",
       "c.json: cases[0].rope.base: this field is given twice"},
      {"[1]", "c.json: [1]: an object with the fields schema_version, note, name, cases"},
  };
  const Folder folder;
  for (const Text& text : texts) {
    const auto file = folder.write("c.json", text.text);
    const std::string line = complaint(folder, [&] { read_case_file(file); });
    EXPECT_THAT(line, testing::StartsWith(text.line)) << text.text;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST(BadCaseFile, ListsInListsAreRefusedBeforeTheyAreTooDeep) {
  const Folder folder;
  for (const int depth : {102, 200000}) {
    const auto file = folder.write("c.json", std::string(depth, '[') + std::string(depth, ']'));
    EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }), "c.json: lists or objects in each other, 100 deep");
  }
  const auto file = folder.write("c.json", std::string(90, '[') + std::string(90, ']'));
  EXPECT_THAT(complaint(folder, [&] { read_case_file(file); }), testing::HasSubstr("an object with the fields"));
}

TEST(BadCaseFile, FilesThatCannotBeReadAreNamed) {
  const Folder folder;
  EXPECT_EQ(complaint(folder, [&] { read_case_file(folder.path() / "none.json"); }), "none.json: no such file");
  std::filesystem::create_directory(folder.path() / "sub");
  EXPECT_EQ(complaint(folder, [&] { read_case_file(folder.path() / "sub"); }),
            "sub: this is a folder; a JSON file is needed");
  if (geteuid() != 0) {  // root reads everything
    const auto file = folder.write("locked.json", kGood);
    std::filesystem::permissions(file, std::filesystem::perms::none);
    EXPECT_EQ(complaint(folder, [&] { read_case_file(file); }), "locked.json: the file cannot be read");
  }
}

}  // namespace
}  // namespace ropewalk::test
