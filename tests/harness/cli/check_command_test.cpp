// `ropewalk check`, `explain` and `run --save-failing` as a user runs them, and what docs/check.md shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/harness/cli/documents.hpp"
#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kDocument = ROPEWALK_SOURCE_DIR "/docs/check.md";
const std::string kGolden =
    ROPEWALK_SOURCE_DIR "/goldens/first-head_dim=64,base=10000,max_position=40-float32.safetensors";

// A folder with what the document's commands read, and the document's case file.
fs::path folder() {
  fs::path path = scratch() / "check";
  if (fs::exists(path)) return path;
  fs::create_directories(path / "bin");
  fs::create_symlink(ROPEWALK_PROGRAM, path / "bin/ropewalk");
  for (const char* name : {"goldens", "cases"})
    fs::create_directory_symlink(fs::path(ROPEWALK_SOURCE_DIR) / name, path / name);
  std::ofstream(path / "kept.json") << blocks(kDocument, "json").at(0);
  return path;
}

Outcome there(const std::string& command) {
  return shell("cd " + folder().string() + " && PATH=$PWD/bin:$PATH && " + command);
}

Outcome check(const std::string& options) { return there("ropewalk check " + options); }

std::string file(const std::string& name, const std::string& text) {
  std::ofstream(folder() / name) << text;
  return (folder() / name).string();
}

TEST(CheckDocument, EveryCommandDoesWhatItSays) {
  const std::regex line("(ropewalk [^#\n]*)# exit ([0-9])");
  int seen = 0;
  for (const std::string& block : blocks(kDocument, "sh"))
    for (auto it = std::sregex_iterator(block.begin(), block.end(), line); it != std::sregex_iterator(); ++it, ++seen) {
      const Outcome outcome = there((*it)[1]);
      EXPECT_EQ(std::to_string(outcome.code), (*it)[2].str()) << (*it)[1] << outcome.out << outcome.err;
    }
  EXPECT_GE(seen, 6);
}

TEST(Check, GoldenTensorsPassAndTheBaseIsFitted) {
  const Outcome outcome = check("--tensors " + kGolden);
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("PASS"), HasSubstr("base 10000: nobody said it")));
}

TEST(Check, TrigonometryIsToldFromAngles) {
  const Outcome outcome = check(
      "--tensors cases/tensors/fast-intrinsics.safetensors --positions 40,2000,16000,131071 --base 10000 --head-dim 2");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("FAIL, first off at cos"));
}

TEST(Check, AConfigSaysTheBase) {
  const std::string config =
      file("config.json", R"({"rope_theta": 500000.0, "hidden_size": 4096, "num_attention_heads": 64})");
  const Outcome outcome = check("--tensors " + kGolden + " --json --config " + config);
  EXPECT_EQ(outcome.code, 1);
  const auto found = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(found["rope"]["base"], 500000);
  EXPECT_EQ(found["verdict"], "fail");
  EXPECT_EQ(found["first_stage"], "inv_freq");
  EXPECT_EQ(check("--tensors " + kGolden + " --config " + config + " --base 10000").code, 0) << "by hand goes first";
}

TEST(Check, AConfigSaysTheScaling) {
  const std::string config = file("linear.json", R"({"head_dim": 64, "rope_theta": 1e4,
      "rope_scaling": {"rope_type": "linear", "factor": 2}})");
  const Outcome outcome = check("--tensors " + kGolden + " --config " + config);
  EXPECT_EQ(outcome.code, 1) << "the tensors are not scaled";
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("scaling linear"), HasSubstr("without the scaling linear")));
}

TEST(Check, OneKindOfLayerOfAConfig) {
  const std::string config = file("gemma.json", R"({"model_type": "gemma3_text", "head_dim": 64})");
  const std::string options = "--tensors " + kGolden + " --config " + config + " --layer-type ";
  EXPECT_EQ(check(options + "sliding_attention").code, 0) << "its base is 10000";
  EXPECT_EQ(check(options + "full_attention").code, 1) << "its base is 1000000";
}

TEST(Check, WrongInputIsOneLineAndTwo) {
  const std::string golden = "--tensors " + kGolden;
  std::string scaled =
      file("scaled.json", R"({"head_dim": 64, "rope_theta": 1e4, "rope_scaling": {"rope_type": "ntk"}})");
  scaled.insert(0, golden + " --config ");
  const auto config = [&](const char* name, const char* json) { return golden + " --config " + file(name, json); };
  const std::string text = file("text.safetensors", "no tensors");
  for (const auto& [options, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "--tensors is required"},
           {"--tensors nowhere.safetensors", "nowhere.safetensors"},
           {"--tensors " + text, "text.safetensors"},
           {"--tensors .", "failing.json is needed"},
           {golden + " --base 10000 --head-dim 128", "64 frequencies are needed, for 128 rotated columns"},
           {golden + " --positions 0..9", "an axis of 10 positions is needed"},
           {golden + " --positions 9..0", "FROM..TO"},
           {golden + " --map cos", "STAGE=NAME_IN_FILE"},
           {golden + " --map cos=nothing", "no such tensor"},
           {golden + " --recipe none", "no such recipe"},
           {golden + " --dtype int8", "one of float64, float32, bfloat16, float16"},
           {scaled, "scaled.json: rope_scaling.rope_type: \"ntk\": one of default, linear, dynamic"},
           {golden + " --config nowhere.json", "nowhere.json: no such file"},
           {golden + " --config goldens", "goldens: this is a folder; a JSON file is needed"},
           {config("list.json", "[1, 2]"), "list.json: [1,2]: a model's config.json is an object"},
           {config("nothing.json", "{}"), "nothing.json: head_dim: missing; accepted: head_dim, or hidden_size and"},
           {config("broken.json", "{"), "broken.json: JSON syntax error"},
           {config("adapter.json", R"({"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]})"),
            "adapter.json: peft_type: \"LORA\": the config of an adapter; its model's own config.json is needed"},
           {config("diffusers.json", R"({"_class_name": "UNet2DConditionModel", "attention_head_dim": 8})"),
            "diffusers.json: _class_name: \"UNet2DConditionModel\": the config of a diffusers"},
           {config("two.json", R"({"model_type": "gemma3_text", "head_dim": 64})"), "--layer-type: the layers of"},
           {config("one.json", R"({"rope_theta": 1e4, "head_dim": 64})") + " --layer-type sliding_attention",
            "--layer-type: sliding_attention: the layers of"},
           {golden + " --layer-type full_attention", "--layer-type: full_attention: this goes with --config only"},
           {golden + " --against nowhere", "nowhere"},
           {"--tensors cases/tensors/fast-intrinsics.safetensors --positions 40,2000,16000,131071 --head-dim 2",
            "base"}}) {
    const Outcome outcome = check(options);
    EXPECT_EQ(outcome.code, 2) << options << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(says)) << options;
  }
}

TEST(SaveFailing, TheFolderNamesTheCause) {
  const Outcome run = there("ropewalk run kept.json --quiet --report again.json --save-failing again");
  EXPECT_EQ(run.code, 1) << run.err;
  const std::string place = "again/kept_cast_head_dim=64,base=10000,max_position=512_bfloat16";
  const auto about = nlohmann::json::parse(text_of(folder() / place / "failing.json"));
  EXPECT_EQ(about["results"].size(), 2U) << about;
  EXPECT_EQ(about["subjects"][0]["name"], "ours");
  EXPECT_EQ(about["check"], "ropewalk check --tensors " + place);
  const Outcome found = there(about["check"].get<std::string>());
  EXPECT_EQ(found.code, 1) << found.err;
  EXPECT_THAT(found.out,
              AllOf(HasSubstr("first off at inv_freq"), HasSubstr("hf-llama-4.37 after a cast of the module")));
  const Outcome exact = check("--tensors " + place + "/reference.safetensors --base 10000");
  EXPECT_EQ(exact.code, 0) << exact.out;
}

// Positions on several axes: kept, judged and recognised by their bits.
TEST(SaveFailing, KeepsTablesOfSeveralAxes) {
  file("axes.json", R"({"schema_version": 1, "name": "axes", "cases": [{"name": "image",
    "rope": {"head_dim": 32, "base": 1000000, "mrope_section": [4, 6, 6], "positions": {"tokens": [3, [1, 4, 6], 5]}},
    "dtype": "float32",
    "subjects": [{"name": "right", "recipe": "hf-qwen2-vl-5.24", "device": "cpu"},
                 {"name": "wrong", "recipe": "mrope-axes-exchanged", "device": "cpu"}],
    "checks": [{"relation": "accuracy", "subjects": ["wrong"], "stages": ["cos", "sin"]},
               {"relation": "identity", "between": ["right", "wrong"], "stages": ["sin"]}]}]})");
  const Outcome run = there("ropewalk run axes.json --report axes-report.json --save-failing axes");
  EXPECT_EQ(run.code, 1) << run.err;
  const std::string place =
      "axes/axes_image_head_dim=32,base=1000000,mrope_section=4;6;6,positions=tokens(3+1x4x6+5)_float32";
  EXPECT_THAT(run.out, HasSubstr("kept: " + place));
  // The exact tensors are a file with positions on several axes, and pass as one.
  auto document = nlohmann::json::parse(text_of(folder() / "axes.json"));
  document["cases"][0]["subjects"] = {{{"name", "exact"}, {"tensors", place + "/reference.safetensors"}}};
  document["cases"][0]["checks"] = {{{"relation", "accuracy"}, {"stages", {"inv_freq", "angle", "cos", "sin"}}}};
  file("exact.json", document.dump());
  EXPECT_EQ(there("ropewalk run exact.json --quiet --report exact-report.json").code, 0);
  const Outcome found = there("ropewalk check --tensors '" + place + "'");
  EXPECT_EQ(found.code, 1) << found.err;
  EXPECT_THAT(found.out,
              AllOf(HasSubstr("wrong.safetensors: FAIL, first off at angle"), HasSubstr("right.safetensors: PASS"),
                    HasSubstr("bit-identical to\n  mrope-axes-exchanged"), HasSubstr("  hf-qwen2-vl-5.24"),
                    HasSubstr("they differ from angle on, at 32 positions that both have"),
                    HasSubstr("another base, position, amplitude or order of pairs is not looked for")));
  const Outcome explained = there("ropewalk explain axes-report.json wrong/cos");
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, AllOf(HasSubstr("first off at angle"), HasSubstr("limit of cos with its numbers"),
                                   HasSubstr("bit-identical to\n  mrope-axes-exchanged")));
  const Outcome alone = check("--base 1000000 --tensors '" + (folder() / place / "wrong.safetensors").string() + "'");
  EXPECT_EQ(alone.code, 2) << alone.out;
  EXPECT_THAT(alone.err, HasSubstr("positions of several axes are not understood here"));
}

TEST(SaveFailing, KeepsNothingOfWhatPasses) {
  auto document = nlohmann::json::parse(blocks(kDocument, "json").at(0));
  document["cases"][0]["subjects"][0]["module_cast"] = false;
  file("fine.json", document.dump());
  EXPECT_EQ(there("ropewalk run fine.json --quiet --report fine-report.json --save-failing fine").code, 0);
  EXPECT_FALSE(fs::exists(folder() / "fine"));
}

TEST(Explain, FillsInTheNumbersAndNamesTheCause) {
  ASSERT_EQ(there("ropewalk run kept.json --quiet --report explained.json").code, 1);
  const Outcome outcome = there("ropewalk explain explained.json ours/sin");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("limit of sin with its numbers"), HasSubstr("power(dynamic_base, previous)"),
                    HasSubstr("1/2 ulp of bfloat16"), HasSubstr("hf-llama-4.37 after a cast of the module"),
                    HasSubstr("again: ropewalk run kept.json")));
  EXPECT_EQ(outcome.out.find("cos(angle)"), std::string::npos) << "steps of the cosine are none of the sine's";
}

TEST(Explain, FindsACaseFileOfAnyName) {
  file("it's kept.json", blocks(kDocument, "json").at(0));
  ASSERT_EQ(there("ropewalk run \"it's kept.json\" --quiet --report named.json --save-failing \"it's\"").code, 1);
  EXPECT_THAT(there("ropewalk explain named.json ours/sin").out, HasSubstr("limit of sin with its numbers"));
  const std::string place = "it's/kept_cast_head_dim=64,base=10000,max_position=512_bfloat16";
  const auto about = nlohmann::json::parse(text_of(folder() / place / "failing.json"));
  EXPECT_EQ(there(about["check"].get<std::string>()).code, 1) << about["check"];
}

TEST(Explain, WhatIsNotThere) {
  ASSERT_EQ(there("ropewalk run kept.json --quiet --report explained.json").code, 1);
  for (const auto& [id, says] : {std::pair("nothing", "no such result"), std::pair("ours", "several fit")}) {
    const Outcome outcome = there(std::string("ropewalk explain explained.json ") + id);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(says));
  }
  EXPECT_EQ(there("ropewalk explain nowhere.json x").code, 2);
}

}  // namespace
}  // namespace ropewalk
