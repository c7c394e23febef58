// What each version of transformers serves in calls one after another, with dynamic scaling and a maximum of 4.
#include "harness/recipes/state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ropewalk {
namespace {

using testing::ElementsAre;
using Type = reference::Scaling::Type;

Case calls(std::vector<std::int64_t> lengths, Type type = Type::dynamic, std::int64_t built_for = 0) {
  Case problem;
  problem.rope.head_dim = 8;
  problem.rope.scaling.type = type;
  problem.rope.scaling.factor = 2;
  if (type == Type::dynamic) problem.rope.scaling.max_position_embeddings = 4;
  problem.state = State{std::move(lengths), built_for};
  return problem;
}

std::vector<double> lengths_in_force(const char* recipe, const std::vector<std::int64_t>& lengths) {
  std::vector<double> out;
  for (const Served& call : served(find_recipe(recipe), calls(lengths), false)) out.push_back(call.length);
  return out;
}

// For each call, whether a cast that comes after the first table has reached what it is made from.
std::string rounded(const char* recipe, const Case& problem) {
  std::string out;
  for (const Served& call : served(find_recipe(recipe), problem, true)) out += call.of_buffers ? 'r' : '.';
  return out;
}

TEST(Served, ATableNeverShrinks) {
  for (const char* recipe : {"hf-llama-4.37", "gpt-neox"})
    EXPECT_THAT(lengths_in_force(recipe, {3, 4, 6, 8, 6, 4, 3, 9}), ElementsAre(4, 4, 6, 8, 8, 8, 8, 9)) << recipe;
}

TEST(Served, LastFrequenciesStayWithinTheMaximum) {
  EXPECT_THAT(lengths_in_force("hf-llama-4.38.2", {3, 4, 8, 6, 4, 3, 9}), ElementsAre(4, 4, 8, 6, 6, 6, 9));
}

TEST(Served, TheFirstFrequenciesComeBackBelowTheMaximumAndNotAtIt) {
  for (const char* recipe :
       {"hf-llama-4.43.4", "hf-llama-4.50.3", "hf-llama-4.57.6", "hf-llama-5.24", "hf-llama4-5.24"})
    EXPECT_THAT(lengths_in_force(recipe, {3, 8, 6, 4, 9, 3, 4, 5}), ElementsAre(4, 8, 8, 8, 9, 4, 4, 5)) << recipe;
}

TEST(Served, WhatKeepsNothingGoesByEachCall) {
  EXPECT_THAT(lengths_in_force("fp32-rounded-once", {8, 3, 4}), ElementsAre(8, 3, 4));
  const auto longrope = served(find_recipe("hf-llama-5.24"), calls({5, 4}, Type::longrope), false);
  EXPECT_EQ(longrope[0].length, 5);
  EXPECT_EQ(longrope[1].length, 4);
}

// A table made before the cast is of float32 frequencies; a dynamic one beyond its maximum makes float32 ones anew.
TEST(Served, ACastReachesARegrownTable) {
  EXPECT_EQ(rounded("hf-llama-4.37", calls({32, 33, 32}, Type::none, 32)), ".rr");
  EXPECT_EQ(rounded("hf-llama-4.37", calls({32, 33}, Type::none)), "rr");
  EXPECT_EQ(rounded("hf-llama-4.37", calls({3, 5, 3})), "...");
  EXPECT_TRUE(served(find_recipe("hf-llama-4.37"), calls({3}), true)[0].first_table);
  EXPECT_TRUE(served(find_recipe("hf-llama-4.37"), calls({3}), false)[0].of_buffers);
}

TEST(Served, ACastReachesFrequenciesInBuffersOnly) {
  EXPECT_EQ(rounded("hf-llama-4.38.2", calls({3, 5, 3})), "r..");
  EXPECT_EQ(rounded("hf-llama-4.57.6", calls({3, 5, 3})), "r..");
  EXPECT_EQ(rounded("hf-llama-5.24", calls({3, 5, 3, 6})), "r.r.");
  EXPECT_EQ(rounded("hf-llama-4.43.4", calls({3, 5}, Type::longrope)), "rr");
  EXPECT_EQ(rounded("hf-llama-4.57.6", calls({3, 5}, Type::longrope)), "..");
  EXPECT_EQ(rounded("hf-llama-5.24", calls({3, 5}, Type::longrope)), "rr");
  EXPECT_EQ(rounded("hf-llama-5.24", calls({3, 5}, Type::linear)), "rr");
}

}  // namespace
}  // namespace ropewalk
