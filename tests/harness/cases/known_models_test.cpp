// The models of tests/data/configs: facts.json says how each turns, write_configs.py has written that in the words of
// its model_type, and the reader has to come back to the facts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cases/model_config.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

namespace fs = std::filesystem;
const fs::path kConfigs = ROPEWALK_TEST_DIR "/data/configs";

Json facts() {
  std::ifstream stream(kConfigs / "facts.json");
  return Json::parse(stream);
}

fs::path file_of(const Json& model) { return kConfigs / (model["name"].get<std::string>() + ".json"); }

bool has_null_lists(const Json& model) {
  return model.contains("scaling") && model["scaling"].value("long_factor", Json(0)).is_null();
}

void expect_scaling(const reference::Scaling& got, const Json& wanted) {
  const std::string type = wanted.value("rope_type", "default");
  EXPECT_EQ(name_of(got.type), type == "default" ? "none" : type);
  EXPECT_EQ(got.factor, wanted.value("factor", 1.0));
  EXPECT_EQ(got.original_max_position_embeddings, wanted.value("original_max_position_embeddings", 0.0));
  EXPECT_EQ(got.beta_fast, wanted.value("beta_fast", 32.0));
  EXPECT_EQ(got.truncate, wanted.value("truncate", true));
  EXPECT_EQ(got.mscale_all_dim.value_or(0), wanted.value("mscale_all_dim", 0.0));
  EXPECT_EQ(got.high_freq_factor, wanted.value("high_freq_factor", 4.0));
  EXPECT_EQ(got.long_factor, wanted.value("long_factor", std::vector<double>{}));
  EXPECT_EQ(got.short_factor, wanted.value("short_factor", std::vector<double>{}));
  EXPECT_EQ(got.proportion, wanted.value("partial_rotary_factor", 1.0));
}

TEST(KnownModels, EveryFileIsInTheFacts) {
  std::set<std::string> named{"facts.json", "write_configs.py"}, there;
  for (const Json& model : facts()) named.insert(file_of(model).filename());
  for (const auto& entry : fs::directory_iterator(kConfigs)) there.insert(entry.path().filename());
  EXPECT_EQ(there, named);
  EXPECT_EQ(facts().size(), 54U);
}

TEST(KnownModels, AreUnderstood) {
  int understood = 0;
  for (const Json& model : facts()) {
    SCOPED_TRACE(model["name"]);
    if (has_null_lists(model)) continue;
    const ModelConfig got = read_model_config(file_of(model));
    const bool gemma4 = model.contains("global_head_dim");  // of which the sliding layers come first
    const ModelLayer& stated = got.layers.at(0);
    EXPECT_EQ(stated.rope.base, gemma4 ? model["theta_local"] : model["theta"]);
    EXPECT_EQ(stated.rope.head_dim, model["head_dim"]);
    EXPECT_EQ(stated.rope.rotary_dim(), model["rotary_dim"]);
    EXPECT_EQ(got.heads, model["heads"]);
    EXPECT_EQ(got.kv_heads, model["kv_heads"]);
    EXPECT_EQ(got.max_position, model["max_position"]);
    EXPECT_EQ(got.pairing, model["pairing"]);
    EXPECT_EQ(got.softcap, model.value("softcap", 0.0));
    EXPECT_EQ(got.layers[gemma4 ? 0 : got.layers.size() - 1].window, model.value("window", 0));
    EXPECT_EQ(got.layers.size() == 2,
              model.contains("theta_local") || model.contains("softcap") || model["model_type"] == "gpt_oss");
    const Rope& scaled = got.layers[gemma4 ? 1 : 0].rope;
    expect_scaling(scaled.scaling, model.value("scaling", Json::object()));
    if (gemma4) {
      EXPECT_EQ(scaled.base, model["theta"]);
      EXPECT_EQ(scaled.head_dim, model["global_head_dim"]);
    }
    ++understood;
  }
  EXPECT_EQ(understood, 53);
}

TEST(KnownModels, RampsAndAmplitudesAreDerived) {
  Json document = Json::parse(R"({"schema_version": 1, "name": "s", "cases": [{"name": "m", "model_config": [],
      "positions": {"log_spaced": [0, "max_position"], "count": 2}, "dtype": "float32",
      "subjects": [{"name": "a", "recipe": "r", "device": "cpu"}], "checks": [{"relation": "accuracy"}]}]})");
  std::map<std::string, Json> ramps;
  for (const Json& model : facts()) {
    if (has_null_lists(model)) continue;
    document["cases"][0]["model_config"].push_back(file_of(model));
    if (model.contains("ramp")) ramps[model["name"]] = model["ramp"];
  }
  const Folder folder;
  std::map<std::string, Json> derived;
  for (const Case& cell : read_case_file(folder.write("c.json", document.dump())))
    derived[cell.params["model_config"]] = cell.derived;
  EXPECT_EQ(derived.size(), 53U);
  EXPECT_EQ(ramps.size(), 4U);
  for (const auto& [model, ramp] : ramps) {
    EXPECT_NEAR(derived[model]["bands"]["low"].get<double>(), ramp[0].get<double>(), 1e-8) << model;
    EXPECT_NEAR(derived[model]["bands"]["high"].get<double>(), ramp[1].get<double>(), 1e-8) << model;
  }
  // 0.1 ln 32 + 1, and sqrt(1 + ln 32 / ln 4096)
  EXPECT_DOUBLE_EQ(derived["gpt-oss-20b"]["amplitude"].get<double>(), 1.3465735902799726547);
  EXPECT_DOUBLE_EQ(derived["Phi-3-mini-128k-instruct"]["amplitude"].get<double>(), 1.190238071423808333);
  EXPECT_EQ(derived["DeepSeek-V3"]["amplitude"], 1);
  // 29 to 34 are blended
  EXPECT_EQ(derived["Llama-3.1-8B"]["bands"], Json::parse(R"({"kept": 29, "blended": 6, "divided": 29})"));
}

TEST(KnownModels, NullListsAreRefusedByTheirKey) {
  int refused = 0;
  for (const Json& model : facts()) {
    if (!has_null_lists(model)) continue;
    ++refused;
    try {
      read_model_config(file_of(model));
      ADD_FAILURE() << model["name"];
    } catch (const BadInput& bad) {
      EXPECT_THAT(bad.what(), testing::HasSubstr("Phi-4-mini-instruct.json: rope_scaling.short_factor: null: longrope "
                                                 "needs a value"));
    }
  }
  EXPECT_EQ(refused, 1);
}

TEST(KnownModels, ScoresAreScaledAsStated) {
  const auto scale = [](const char* name) { return *read_model_config(kConfigs / name).softmax_scale; };
  EXPECT_DOUBLE_EQ(scale("gemma-2-27b.json"), 1.0 / 12);
  EXPECT_DOUBLE_EQ(scale("gemma-3-27b-it.json"), 1 / std::sqrt(168.0));
  // (0.1 m ln 40 + 1)^2 / sqrt(192), m = 1 and 0.707; the amplitudes 1.36888794541139363 and 1.26080377740585530
  EXPECT_NEAR(scale("DeepSeek-V3.json"), 1.36888794541139363 * 1.36888794541139363 / std::sqrt(192.0), 1e-16);
  EXPECT_NEAR(scale("DeepSeek-Coder-V2-Lite-Base.json"), 1.26080377740585530 * 1.26080377740585530 / std::sqrt(192.0),
              1e-16);
}

}  // namespace
}  // namespace ropewalk::test
