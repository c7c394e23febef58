#include "harness/cases/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {
namespace {

using reference::Scaling;
using testing::HasSubstr;

ModelConfig read(const std::string& text) {
  const Folder folder;
  return read_model_config(folder.write("config.json", text));
}

Rope rope(const std::string& text) { return read(text).layers.at(0).rope; }

TEST(ModelConfig, Llama) {
  const ModelConfig got = read(R"({"rope_theta": 500000.0, "hidden_size": 4096, "num_attention_heads": 32,
      "head_dim": null, "rope_scaling": null, "max_position_embeddings": 8192, "num_key_value_heads": 8})");
  ASSERT_EQ(got.layers.size(), 1U);
  EXPECT_EQ(got.layers[0].rope.base, 500000);
  EXPECT_EQ(got.layers[0].rope.head_dim, 128);
  EXPECT_EQ(got.layers[0].rope.rotary_dim(), 128);
  EXPECT_EQ(got.max_position, 8192);
  EXPECT_EQ(got.heads, 32);
  EXPECT_EQ(got.kv_heads, 8);
  EXPECT_TRUE(got.base_stated);
  EXPECT_TRUE(got.pairing.empty()) << "nothing says what model it is";
}

TEST(ModelConfig, RopeParametersGoBeforeTheOldFields) {
  const Rope got = rope(R"({"rope_theta": 1, "head_dim": 64,
      "rope_parameters": {"rope_type": "default", "rope_theta": 1000000, "partial_rotary_factor": 0.25}})");
  EXPECT_EQ(got.base, 1000000);
  EXPECT_EQ(got.rotary_dim(), 16);
}

TEST(ModelConfig, OldAndNewStyleSayTheSame) {
  const std::string body = R"("factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
      "original_max_position_embeddings": 8192)";
  const Rope old = rope(R"({"head_dim": 64, "rope_theta": 5e5, "rope_scaling": {"type": "llama3", )" + body + "}}");
  const Rope now =
      rope(R"({"head_dim": 64, "rope_parameters": {"rope_type": "llama3", "rope_theta": 500000, )" + body + "}}");
  EXPECT_EQ(old.base, now.base);
  EXPECT_EQ(old.scaling, now.scaling);
  EXPECT_EQ(old.scaling.type, Scaling::Type::llama3);
  EXPECT_EQ(old.scaling.factor, 32);
}

TEST(ModelConfig, OriginalLengthInOrBesideTheBlock) {
  const std::string yarn = R"({"head_dim": 8, "rope_theta": 1e4, "max_position_embeddings": 400, )";
  const auto original = [&](const std::string& rest) {
    return rope(yarn + rest).scaling.original_max_position_embeddings;
  };
  EXPECT_EQ(original(R"("rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 100}})"),
            100);
  EXPECT_EQ(original(R"("original_max_position_embeddings": 50, "rope_scaling": {"type": "yarn", "factor": 4}})"), 50);
  EXPECT_EQ(original(R"("rope_scaling": {"type": "yarn", "factor": 4}})"), 400)
      << "transformers then takes the maximum";
}

TEST(ModelConfig, OldNamesOfScalings) {
  const Rope su = rope(R"({"head_dim": 4, "rope_theta": 1e4, "max_position_embeddings": 128,
      "original_max_position_embeddings": 4,
      "rope_scaling": {"type": "su", "short_factor": [1, 1.5], "long_factor": [2, 3]}})");
  EXPECT_EQ(su.scaling.type, Scaling::Type::longrope);
  EXPECT_EQ(su.scaling.long_factor, (std::vector<double>{2, 3}));
  EXPECT_EQ(su.scaling.max_position_embeddings, 128);
  const ModelConfig mrope = read(R"({"head_dim": 16, "rope_theta": 1e6,
      "rope_scaling": {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3]}})");
  EXPECT_EQ(mrope.layers[0].rope.scaling.type, Scaling::Type::none);
  EXPECT_EQ(mrope.layers[0].rope.mrope_section, (std::vector<std::int64_t>{2, 3, 3}));
}

// As the models' own pages write it for long contexts. The class of Qwen3-VL always takes its sections in turns.
TEST(ModelConfig, AScalingGoesWithSections) {
  const ModelConfig qwen25 = read(R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "num_attention_heads": 28,
      "num_key_value_heads": 4, "max_position_embeddings": 128000, "rope_scaling": {"type": "yarn",
      "mrope_section": [16, 24, 24], "factor": 4, "original_max_position_embeddings": 32768}})");
  const Rope& blocked = qwen25.layers.at(0).rope;
  EXPECT_EQ(blocked.base, 1e6);
  EXPECT_EQ(blocked.scaling.type, Scaling::Type::yarn);
  EXPECT_EQ(blocked.scaling.factor, 4);
  EXPECT_EQ(blocked.scaling.original_max_position_embeddings, 32768);
  EXPECT_EQ(blocked.mrope_section, (std::vector<std::int64_t>{16, 24, 24}));
  EXPECT_FALSE(blocked.mrope_interleaved);
  EXPECT_EQ(qwen25.pairing, "half_split");
  for (const std::string said : {R"("mrope_interleaved": true,)", ""}) {
    const Rope in_turns =
        rope(R"({"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text", "rope_theta": 5e6,
        "rope_scaling": {"rope_type": "yarn", "mrope_section": [24, 20, 20], )" +
             said + R"("factor": 3, "original_max_position_embeddings": 262144}}})");
    EXPECT_EQ(in_turns.scaling.factor, 3);
    EXPECT_EQ(in_turns.mrope_section, (std::vector<std::int64_t>{24, 20, 20}));
    EXPECT_TRUE(in_turns.mrope_interleaved);
  }
}

TEST(ModelConfig, RopeForEachKindOfLayer) {
  const ModelConfig gemma3 = read(R"({"model_type": "gemma3_text", "head_dim": 256, "rope_theta": 1e6,
      "rope_local_base_freq": 1e4, "rope_scaling": {"rope_type": "linear", "factor": 8}, "sliding_window": 512})");
  const ModelConfig nested = read(R"({"model_type": "gemma3_text", "sliding_window": 512, "rope_parameters": {
      "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000000},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000}}})");
  for (const ModelConfig* got : {&gemma3, &nested}) {
    ASSERT_EQ(got->layers.size(), 2U);
    EXPECT_EQ(got->layers[0].type, "full_attention");
    EXPECT_EQ(got->layers[0].rope.base, 1e6);
    EXPECT_EQ(got->layers[0].rope.scaling.factor, 8);
    EXPECT_EQ(got->layers[0].window, 0);
    EXPECT_EQ(got->layers[1].type, "sliding_attention");
    EXPECT_EQ(got->layers[1].rope.base, 1e4);
    EXPECT_EQ(got->layers[1].rope.scaling.type, Scaling::Type::none);
    EXPECT_EQ(got->layers[1].window, 512);
  }
}

TEST(ModelConfig, WidthsOfManyKinds) {
  EXPECT_EQ(rope(R"({"model_type": "gpt_neox", "hidden_size": 2048, "num_attention_heads": 8})").rotary_dim(), 64);
  EXPECT_EQ(rope(R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "rotary_dim": 64})").rotary_dim(), 64);
  EXPECT_EQ(
      rope(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128, "qk_rope_head_dim": 64})")
          .head_dim,
      64);
  EXPECT_EQ(rope(R"({"rope_theta": 1, "head_dim": 98, "rotary_dim": 94})").rotary_dim(), 94);
  EXPECT_EQ(rope(R"({"text_config": {"head_dim": 64, "rope_theta": 7.0}})").base, 7);
}

TEST(ModelConfig, WindowsAsTheClassHasThem) {
  const auto windows = [](const std::string& text) {
    std::vector<std::int64_t> out;
    for (const ModelLayer& layer : read(text).layers) out.push_back(layer.window);
    return out;
  };
  using Windows = std::vector<std::int64_t>;
  EXPECT_EQ(windows(R"({"model_type": "mistral", "head_dim": 8, "sliding_window": 99})"), (Windows{99}));
  EXPECT_EQ(windows(R"({"model_type": "qwen2", "hidden_size": 8, "num_attention_heads": 1, "sliding_window": 99,
      "use_sliding_window": false})"),
            (Windows{0}));
  EXPECT_EQ(windows(R"({"model_type": "gemma2", "sliding_window": 99})"), (Windows{0, 99}));
  EXPECT_EQ(windows(R"({"model_type": "qwen3", "sliding_window": 9, "layer_types": ["full_attention"]})"),
            (Windows{0}));
}

TEST(ModelConfig, TheClassSaysTheBaseOrNobody) {
  const ModelConfig got = read(R"({"model_type": "llama", "head_dim": 64})");
  EXPECT_EQ(got.layers[0].rope.base, 10000);
  EXPECT_FALSE(got.base_stated);
  EXPECT_EQ(rope(R"({"model_type": "gemma3_text"})").base, 1e6);
}

TEST(ModelConfig, ScalesOfTheScores) {
  EXPECT_DOUBLE_EQ(*read(R"({"model_type": "llama", "head_dim": 64})").softmax_scale, 0.125);
  EXPECT_DOUBLE_EQ(*read(R"({"model_type": "gemma2", "query_pre_attn_scalar": 144})").softmax_scale, 1.0 / 12);
  EXPECT_FALSE(read(R"({"head_dim": 64, "rope_theta": 1})").softmax_scale.has_value());
  // 192^-1/2 times the square of 1.3688879454113936303, YaRN's amplitude at factor 40
  const ModelConfig deepseek = read(R"({"model_type": "deepseek_v3", "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1, "mscale_all_dim": 1,
                       "original_max_position_embeddings": 4096}})");
  EXPECT_NEAR(*deepseek.softmax_scale, 1.8738542070926265 / 13.856406460551018, 1e-15);
}

// What is malformed, and the line that names the key.
struct Malformed {
  const char* text;
  const char* says;
};
void PrintTo(const Malformed& wrong, std::ostream* out) { *out << wrong.text; }
class Refused : public testing::TestWithParam<Malformed> {};

TEST_P(Refused, ByItsKey) {
  const Folder folder;
  const auto file = folder.write("c.json", GetParam().text);
  EXPECT_EQ(complaint(folder, [&] { read_model_config(file); }).rfind(std::string("c.json: ") + GetParam().says, 0), 0U)
      << complaint(folder, [&] { read_model_config(file); });
}

INSTANTIATE_TEST_SUITE_P(
    ModelConfig, Refused,
    testing::Values(
        Malformed{"[]", "[]: a model's config.json is an object"},
        Malformed{"{}", "head_dim: missing; accepted: head_dim, or hidden_size and num_attention_heads"},
        Malformed{R"({"hidden_size": 100, "num_attention_heads": 3, "rope_theta": 1})",
                  "num_attention_heads: 3: a divisor of hidden_size"},
        Malformed{R"({"head_dim": 0})", "head_dim: 0: a whole number from 2"},
        Malformed{R"({"head_dim": 65, "rope_theta": 1})", "head_dim: 65 x 1: an even rotary width"},
        Malformed{R"({"head_dim": 64})", "rope_theta: missing, and no model_type that has a default is stated"},
        Malformed{R"({"head_dim": 64, "model_type": "cohere"})",
                  "rope_theta: missing; there is no default for model_type cohere"},
        Malformed{R"({"head_dim": 64, "rope_theta": -1})", "rope_theta: -1: a number above 0"},
        Malformed{R"({"head_dim": 64, "rope_theta": "1e4"})", R"(rope_theta: "1e4": a number is needed)"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "partial_rotary_factor": 2})",
                  "partial_rotary_factor: 2: a number above 0, at most 1"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rotary_dim": 66})",
                  "rotary_dim: 66: a whole number from 2 to the head's 64"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": "yarn"})",
                  R"(rope_scaling: "yarn": an object or null is needed)"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"factor": 4}})",
                  "rope_scaling.rope_type: missing, beside factor"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "ntk", "factor": 4}})",
                  R"(rope_scaling.rope_type: "ntk": one of default, linear,)"},
        Malformed{
            R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "yarn", "type": "linear", "factor": 4}})",
            R"(rope_scaling.type: "linear": rope_type says "yarn"; both must agree)"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "linear"}})",
                  "rope_scaling.factor: missing; linear needs it"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "linear", "factor": 0}})",
                  "rope_scaling.factor: 0: a number above 0"},
        Malformed{
            R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "linear", "factor": 4, "alpha": 2}})",
            "rope_scaling.alpha: 2: not understood with scaling linear; accepted: rope_type, type, rope_theta, "},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "yarn", "factr": 4}})",
                  "rope_scaling.factr: 4: not understood with scaling yarn, did you mean factor?"},
        Malformed{R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "dynamic", "factor": 4}})",
                  "rope_scaling.max_position_embeddings: missing; dynamic needs it"},
        Malformed{
            R"({"head_dim": 64, "rope_theta": 1, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
                      "high_freq_factor": 1, "original_max_position_embeddings": 8192}})",
            "rope_scaling.low_freq_factor: 4: at most high_freq_factor"},
        Malformed{R"({"head_dim": 8, "rope_theta": 1, "original_max_position_embeddings": 4,
                      "rope_scaling": {"type": "su", "short_factor": [1, 1], "long_factor": [1, 1, 1, 1]}})",
                  "rope_scaling.short_factor: 2 numbers: one for each of the 4 pairs"},
        Malformed{R"({"head_dim": 8, "rope_theta": 1, "original_max_position_embeddings": 4,
                      "rope_scaling": {"type": "longrope", "short_factor": null, "long_factor": null}})",
                  "rope_scaling.short_factor: null: longrope needs a value"},
        Malformed{
            R"({"head_dim": 8, "rope_theta": 1, "original_max_position_embeddings": 4, "max_position_embeddings": 8,
                      "rope_scaling": {"type": "yarn", "factor": 2, "original_max_position_embeddings": 5}})",
            "original_max_position_embeddings: 4: rope_scaling.original_max_position_embeddings says 5"},
        Malformed{R"({"head_dim": 16, "rope_theta": 1, "rope_scaling": {"type": "mrope", "mrope_section": [2, 2, 2]}})",
                  "rope_scaling.mrope_section: [2,2,2]: numbers with the sum 8"},
        Malformed{R"({"head_dim": 16, "rope_theta": 9, "rope_scaling": {"type": "yarn", "factor": 2,
                      "original_max_position_embeddings": 4, "mrope_section": [2, 2, 2]}})",
                  "rope_scaling.mrope_section: [2,2,2]: numbers with the sum 8"},
        Malformed{R"({"head_dim": 16, "rope_theta": 1, "rope_scaling": {"type": "mrope", "factor": 2}})",
                  "rope_scaling.factor: 2: not understood with scaling default"},
        Malformed{R"({"head_dim": 16, "rope_parameters": {"hybrid": {"rope_theta": 1}}})",
                  R"(rope_parameters.hybrid: {"rope_theta":1}: a kind of layer that is not understood)"},
        Malformed{
            R"({"head_dim": 16, "rope_theta": 1, "rope_parameters": {"rope_theta": 1}, "rope_scaling": {"type": "default"}})",
            R"(rope_scaling: {"type":"default"}: rope_parameters is there too)"},
        Malformed{R"({"head_dim": 16, "rope_theta": 1, "rope_ratio": 500})", "rope_ratio: 500: not understood"},
        Malformed{R"({"model_type": "falcon", "hidden_size": 64, "num_attention_heads": 1, "alibi": true})",
                  "alibi: true: a model without rotary embedding"},
        Malformed{R"({"head_dim": 16, "rope_theta": 1, "layer_types": ["linear_attention"]})",
                  R"(layer_types[0]: "linear_attention": one of full_attention)"},
        Malformed{R"({"head_dim": 16, "rope_theta": 1, "num_attention_heads": 6, "num_key_value_heads": 4})",
                  "num_key_value_heads: 4: a divisor of heads 6"},
        Malformed{R"({"text_config": {"head_dim": 64, "rope_theta": 0}})",
                  "text_config.rope_theta: 0: a number above 0"},
        Malformed{R"({"text_config": "llama"})", R"(text_config: "llama": an object is needed)"}));

}  // namespace
}  // namespace ropewalk::test
