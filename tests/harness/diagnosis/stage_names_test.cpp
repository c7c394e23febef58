#include "harness/diagnosis/stage_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// One float a tensor, so that names alone decide.
std::map<std::string, Tensor> file_with(const std::vector<std::string>& names) {
  std::map<std::string, Tensor> out;
  for (const std::string& name : names) {
    Tensor tensor(DType::float32, {1});
    tensor.as<float>()[0] = static_cast<float>(out.size());
    out[name] = tensor;
  }
  return out;
}

std::map<std::string, std::string> found(const std::vector<std::string>& names) {
  return find_stages("f", file_with(names), {}).tensor_of;
}

std::string complaint(const std::vector<std::string>& names, const std::map<std::string, std::string>& map = {}) {
  try {
    find_stages("f", file_with(names), map);
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return "no complaint";
}

TEST(StageNames, TheExactNameGoesFirst) {
  EXPECT_THAT(found({"cos", "model.cos", "COS"}), UnorderedElementsAre(Pair("cos", "cos")));
}

TEST(StageNames, EndingsOfProjects) {
  EXPECT_THAT(
      found({"model.rotary_emb.cos_cached", "model.rotary_emb.sin_cached", "model.rotary_emb.inv_freq"}),
      UnorderedElementsAre(Pair("cos", "model.rotary_emb.cos_cached"), Pair("sin", "model.rotary_emb.sin_cached"),
                           Pair("inv_freq", "model.rotary_emb.inv_freq")));
  EXPECT_THAT(
      found({"Rope_COS", "rope_sin", "position_ids"}),
      UnorderedElementsAre(Pair("cos", "Rope_COS"), Pair("sin", "rope_sin"), Pair("positions", "position_ids")));
  EXPECT_THAT(found({"theta", "freqs"}), UnorderedElementsAre(Pair("inv_freq", "theta"), Pair("angle", "freqs")));
  EXPECT_THAT(found({"rotary.cos_sin_cache"}), UnorderedElementsAre(Pair("cos_sin", "rotary.cos_sin_cache")));
}

TEST(StageNames, AWordInsideAnotherIsNone) {
  EXPECT_THAT(complaint({"tacos", "basin", "cost"}), HasSubstr("no stage found; the file has: basin, cost, tacos"));
  EXPECT_THAT(found({"inv_freqs", "cos"}), UnorderedElementsAre(Pair("inv_freq", "inv_freqs"), Pair("cos", "cos")));
}

TEST(StageNames, SeveralThatDifferAreAmbiguous) {
  EXPECT_THAT(complaint({"a.cos", "b.cos"}),
              HasSubstr("f: cos: a.cos, b.cos: several tensors fit and differ; --map cos="));
  EXPECT_EQ(find_stages("f", file_with({"a.cos", "b.cos"}), {{"cos", "b.cos"}}).tensor_of.at("cos"), "b.cos");
}

TEST(StageNames, SeveralOfTheSameBitsAreOne) {
  auto tensors = file_with({"layers.0.cos"});
  tensors["layers.1.cos"] = tensors["layers.0.cos"];
  const NamedStages stages = find_stages("f", tensors, {});
  EXPECT_EQ(stages.tensor_of.at("cos"), "layers.0.cos");
  EXPECT_THAT(stages.notes.at(0), HasSubstr("2 tensors fit cos and are the same bits"));
}

TEST(StageNames, WhatTheMapMayNotSay) {
  EXPECT_THAT(complaint({"x"}, {{"cosine", "x"}}), HasSubstr("--map: cosine: a stage is needed, one of positions,"));
  EXPECT_THAT(complaint({"x"}, {{"cos", "y"}}), HasSubstr("f: --map cos: y: no such tensor; the file has: x"));
  EXPECT_THAT(complaint({}), HasSubstr("no stage found; the file has no tensor"));
  EXPECT_THAT(complaint({"positions"}), HasSubstr("no stage found"));
}

}  // namespace
}  // namespace ropewalk
