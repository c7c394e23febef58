#include "harness/cases/model_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "harness/bad_input.hpp"
#include "tests/harness/subjects/problems.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

ModelConfig read(const std::string& text) {
  const TestFolder folder;
  std::ofstream(folder.path / "config.json") << text;
  return read_model_config(folder.path / "config.json");
}

std::string complaint(const std::string& text) {
  try {
    read(text);
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "no complaint";
}

TEST(ModelConfig, Llama) {
  const ModelConfig got =
      read(R"({"rope_theta": 500000.0, "hidden_size": 4096, "num_attention_heads": 32, "head_dim": null,
                                   "rope_scaling": null, "max_position_embeddings": 8192})");
  EXPECT_EQ(got.rope.base, 500000);
  EXPECT_EQ(got.rope.head_dim, 128);
  EXPECT_EQ(got.rope.rotary_dim(), 128);
  EXPECT_EQ(got.max_position, 8192);
  EXPECT_TRUE(got.base_stated);
}

TEST(ModelConfig, RopeParametersGoBeforeTheOldFields) {
  const ModelConfig got = read(R"({"rope_theta": 1, "head_dim": 64,
      "rope_parameters": {"rope_type": "default", "rope_theta": 1000000, "partial_rotary_factor": 0.25}})");
  EXPECT_EQ(got.rope.base, 1000000);
  EXPECT_EQ(got.rope.rotary_dim(), 16);
}

TEST(ModelConfig, GptNeoxAndMultimodal) {
  const ModelConfig neox =
      read(R"({"hidden_size": 2048, "num_attention_heads": 8, "rotary_pct": 0.25, "rotary_emb_base": 10000})");
  EXPECT_EQ(neox.rope.rotary_dim(), 64);
  EXPECT_EQ(read(R"({"text_config": {"head_dim": 64, "rope_theta": 7.0}})").rope.base, 7);
}

TEST(ModelConfig, WithoutABaseTransformersTakes10000) {
  const ModelConfig got = read(R"({"head_dim": 64})");
  EXPECT_EQ(got.rope.base, 10000);
  EXPECT_FALSE(got.base_stated);
}

TEST(ModelConfig, ScalingIsRefusedByItsKey) {
  EXPECT_THAT(complaint(R"({"head_dim": 64, "rope_scaling": {"type": "linear", "factor": 4}})"),
              HasSubstr("rope_scaling.type: \"linear\": this scaling is not understood by this version"));
  EXPECT_THAT(complaint(R"({"head_dim": 64, "rope_parameters": {"rope_type": "llama3"}})"),
              HasSubstr("rope_parameters.rope_type: \"llama3\""));
  EXPECT_THAT(complaint(R"({"head_dim": 64, "rope_parameters": {"full_attention": {"rope_type": "default"}}})"),
              HasSubstr("rope_parameters.full_attention"));
}

TEST(ModelConfig, Nonsense) {
  EXPECT_THAT(complaint("{}"), HasSubstr("head_dim: missing; accepted: head_dim, or hidden_size and"));
  EXPECT_THAT(complaint("[]"), HasSubstr("is an object"));
  EXPECT_THAT(complaint(R"({"hidden_size": 100, "num_attention_heads": 3})"), HasSubstr("a divisor of hidden_size"));
  EXPECT_THAT(complaint(R"({"head_dim": 0})"), HasSubstr("head_dim: 0"));
  EXPECT_THAT(complaint(R"({"head_dim": 64, "rope_theta": -1})"), HasSubstr("a number above 0"));
  EXPECT_THAT(complaint(R"({"head_dim": 65})"), HasSubstr("an even rotary width"));
}

}  // namespace
}  // namespace ropewalk
