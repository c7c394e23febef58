// Cases whose rope comes from a model's own config.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cases/case.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

using testing::ElementsAre;

constexpr const char* kLlama = R"({"model_type": "llama", "head_dim": 64, "num_attention_heads": 6, "rope_theta": 5e5,
    "num_key_value_heads": 2, "max_position_embeddings": 1024})";
constexpr const char* kGemma = R"({"model_type": "gemma3_text", "head_dim": 32, "num_attention_heads": 4,
    "num_key_value_heads": 1, "sliding_window": 8, "query_pre_attn_scalar": 32})";
constexpr const char* kCase = R"({
  "schema_version": 1, "name": "s", "cases": [{
    "name": "m", "model_config": ["models/tiny/config.json", "gemma.json"],
    "positions": {"log_spaced": [0, "max_position"], "count": 4},
    "dtype": "float32", "subjects": [{"name": "a", "recipe": "r", "device": "cpu"}],
    "checks": [{"relation": "accuracy"}]}]})";

struct Files {
  Files() {
    folder.write("models/tiny/config.json", kLlama);
    folder.write("gemma.json", kGemma);
  }
  std::vector<Case> read(const char* changes = "{}") {
    return read_case_file(folder.write("case.json", changed(kCase, changes).dump()));
  }
  std::string complaint(const char* changes) {
    return test::complaint(folder, [&] { read(changes); });
  }
  Folder folder;
};

std::vector<std::string> ids(const std::vector<Case>& cases) {
  std::vector<std::string> out;
  for (const Case& cell : cases) out.push_back(cell.id);
  return out;
}

TEST(ModelCase, ModelsAndTheirLayersAreAnAxis) {
  const auto cases = Files().read();
  const std::string rest = ",positions=log_spaced(0..max_position;4)/float32";
  EXPECT_THAT(ids(cases),
              ElementsAre("s/m/model_config=tiny" + rest, "s/m/model_config=gemma,layer_type=full_attention" + rest,
                          "s/m/model_config=gemma,layer_type=sliding_attention" + rest));
  EXPECT_EQ(cases[0].rope.base, 5e5);
  EXPECT_EQ(cases[0].positions.list, (std::vector<std::int64_t>{0, 1, 32, 1023}));
  EXPECT_EQ(cases[1].rope.base, 1e6);
  EXPECT_EQ(cases[2].rope.base, 1e4);
  EXPECT_EQ(cases[2].rope.head_dim, 32);
  EXPECT_EQ(cases[2].positions.largest(), 131071);
  EXPECT_EQ(cases[2].params["layer_type"], "sliding_attention");
}

TEST(ModelCase, OneKindOfLayerCanBeAskedFor) {
  const auto cases = Files().read(R"({"/cases/0/layer_type": "full_attention"})");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[1].params["layer_type"], "full_attention") << "of a model with several it stays in the id";
}

TEST(ModelCase, LayersWithTheSameTableAreOneTable) {
  Files files;
  files.folder.write("gemma.json", R"({"model_type": "gemma2", "sliding_window": 8, "max_position_embeddings": 9,
      "num_attention_heads": 2, "num_key_value_heads": 1, "query_pre_attn_scalar": 256})");
  EXPECT_EQ(files.read().size(), 2U);
  const auto with_attention = files.read(R"({"/cases/0/attention": {}, "/cases/0/checks/0/stages": ["rotated_q"]})");
  ASSERT_EQ(with_attention.size(), 3U) << "the windows differ";
  EXPECT_EQ(with_attention[0].attention->heads, 6);
  EXPECT_EQ(with_attention[0].attention->kv_heads, 2);
  EXPECT_EQ(with_attention[0].attention->pairing, "half_split");
  EXPECT_EQ(with_attention[2].attention->window, 8);
}

TEST(ModelCase, WhatIsWrittenGoesBeforeTheModel) {
  const auto cases =
      Files().read(R"({"/cases/0/attention": {"heads": 12}, "/cases/0/checks/0/stages": ["rotated_q"]})");
  EXPECT_EQ(cases[0].attention->heads, 12);
  EXPECT_EQ(cases[0].attention->kv_heads, 2);
}

TEST(ModelCase, WhatWasDerivedIsKept) {
  const auto cases = Files().read();
  EXPECT_EQ(cases[0].derived["theta"], 500000);
  EXPECT_EQ(cases[0].derived["rotary_dim"], 64);
  EXPECT_EQ(cases[0].derived["softmax_scale"], 0.125);
  EXPECT_TRUE(cases[0].derived["scaling"].is_null());
  EXPECT_EQ(cases[0].derived["max_position"], 1024);
}

TEST(ModelCase, BandsAndAmplitudeAreDerived) {
  Files files;
  files.folder.write("gemma.json", R"({"model_type": "gpt_oss", "max_position_embeddings": 131072, "rope_parameters": {
      "rope_type": "yarn", "rope_theta": 150000, "factor": 32, "truncate": false, "original_max_position_embeddings": 4096}})");
  const auto derived = files.read().at(1).derived;
  // Definition over the reals, to 10 digits: docs/numerics.md, 1.8
  EXPECT_NEAR(derived["bands"]["low"].get<double>(), 8.092779116, 1e-9);
  EXPECT_NEAR(derived["bands"]["high"].get<double>(), 17.39802450, 1e-8);
  EXPECT_EQ(derived["bands"]["kept"], 9);
  EXPECT_EQ(derived["bands"]["blended"], 9);
  EXPECT_EQ(derived["bands"]["divided"], 14);
  EXPECT_DOUBLE_EQ(derived["amplitude"].get<double>(), 1.3465735902799726547);
  EXPECT_EQ(derived["scaling"]["factor"], 32);
}

TEST(ModelCase, ExpectationsMayNameModelAndLayer) {
  Files files;
  const auto cases = files.read(R"({"/cases/0/checks/0/expect": [
      {"where": {"model_config": "gemma", "layer_type": "full_attention"}, "verdict": "fail"}]})");
  EXPECT_EQ(cases[0].checks[0].expect[0].where["layer_type"], "full_attention");
  EXPECT_EQ(files.complaint(R"({"/cases/0/checks/0/expect": [{"where": {"model_config": "x"}, "verdict": "fail"}]})"),
            R"(case.json: cases[0].checks[0].expect[0].where.model_config: "x": one of "tiny", "gemma")");
}

struct Wrong {
  const char* changes;
  const char* says;  // after "case.json: "
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.changes; }
class WrongModelCase : public testing::TestWithParam<Wrong> {};

TEST_P(WrongModelCase, IsOneLine) {
  const std::string line = Files().complaint(GetParam().changes);
  EXPECT_EQ(line.rfind(GetParam().says, 0), 0U) << line;
}

INSTANTIATE_TEST_SUITE_P(
    ModelCase, WrongModelCase,
    testing::Values(
        Wrong{R"({"/cases/0/model_config": "nowhere.json"})", "nowhere.json: no such file"},
        Wrong{R"({"/cases/0/model_config": "models"})", "models: this is a folder; a JSON file is needed"},
        Wrong{R"({"/cases/0/model_config": 5})", "case.json: cases[0].model_config: 5: a text is needed"},
        Wrong{R"({"/cases/0/model_config": ["gemma.json", "gemma.json"]})",
              R"(case.json: cases[0].model_config[1]: "gemma.json": an earlier model is called gemma too)"},
        Wrong{R"({"/cases/0/layer_type": "linear_attention"})",
              R"(case.json: cases[0].layer_type: "linear_attention": one of full_attention, sliding_attention)"},
        Wrong{
            R"({"/cases/0/layer_type": "sliding_attention"})",
            R"(case.json: cases[0].model_config[0]: "models/tiny/config.json": this model has none of the kinds in layer_type, only full_attention)"},
        Wrong{R"({"/cases/0/rope": {"head_dim": 64}})",
              "case.json: cases[0].rope.head_dim: 64: the model_config says all but the positions"},
        Wrong{R"({"/cases/0/positions": null})", "case.json: cases[0].positions: this field is missing"},
        Wrong{
            R"({"/cases/0/rope": {"max_position": 8}})",
            R"(case.json: cases[0].positions: {"log_spaced":[0,"max_position"],"count":4}: either max_position or positions)"},
        Wrong{R"({"/cases/0/positions/log_spaced": ["max_position", 9]})",
              R"(case.json: cases[0].positions.log_spaced[0]: "max_position": this goes with a model_config only)"},
        Wrong{R"({"/cases/0/model_config": null, "/cases/0/rope": {"head_dim": 64}})",
              R"(case.json: cases[0].positions.log_spaced[1]: "max_position": this goes with a model_config only)"},
        Wrong{
            R"({"/cases/0/model_config": null, "/cases/0/rope": {"head_dim": 64}, "/cases/0/layer_type": "full_attention"})",
            R"(case.json: cases[0].layer_type: "full_attention": this goes with a model_config only)"}));

TEST(ModelCase, AttentionIsNotGuessed) {
  Files files;
  files.folder.write("gemma.json",
                     R"({"head_dim": 32, "rope_theta": 1, "max_position_embeddings": 9, "num_attention_heads": 3,
      "num_key_value_heads": null})");
  EXPECT_EQ(files.complaint(R"({"/cases/0/attention": {}, "/cases/0/checks/0/stages": ["rotated_q"]})"),
            "case.json: cases[0].model_config: gemma: its config.json does not say which channels turn together; write "
            "attention.pairing");
  EXPECT_EQ(
      files.complaint(R"({"/cases/0/attention": {"pairing": "half_split"}, "/cases/0/checks/0/stages": ["scores"]})"),
      "case.json: cases[0].model_config: gemma: its config.json does not say the scale of the scores; write "
      "attention.scale");
  files.folder.write("gemma.json", R"({"model_type": "deepseek_v3", "num_attention_heads": 3, "num_key_value_heads": 3,
      "qk_rope_head_dim": 8, "qk_nope_head_dim": 16, "max_position_embeddings": 9})");
  EXPECT_EQ(files.complaint(R"({"/cases/0/attention": {}, "/cases/0/checks/0/stages": ["scores"]})"),
            "case.json: cases[0].model_config: gemma: its scores cannot be computed by this version: qk_nope_head_dim: "
            "heads with a part that is not rotated beside");
}

TEST(ModelCase, AMaximumThatIsNotStated) {
  Files files;
  files.folder.write("gemma.json", R"({"model_type": "llama", "head_dim": 32})");
  EXPECT_EQ(
      files.complaint("{}"),
      R"(case.json: cases[0].positions: {"log_spaced":[0,"max_position"],"count":4}: gemma's config.json states no max_position_embeddings)");
}

}  // namespace
}  // namespace ropewalk::test
