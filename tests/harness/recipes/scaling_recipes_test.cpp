// Published recipes with scaling keep within the limits that are counted from them; the faults do not, and are found at
// their stage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/checks/accuracy.hpp"
#include "harness/recipes/run.hpp"

namespace ropewalk {
namespace {

using reference::Scaling;
using Type = Scaling::Type;

struct Configuration {
  const char* name;
  std::int64_t width;
  double base;
  Scaling scaling;
};

Scaling make(Type type, double factor, double original = 0, double maximum = 0) {
  Scaling s;
  s.type = type;
  s.factor = factor;
  s.original_max_position_embeddings = original;
  s.max_position_embeddings = maximum;
  return s;
}

Scaling yarn(double factor, double original, std::optional<double> mscale = {}, bool truncate = true) {
  Scaling s = make(Type::yarn, factor, original, original);
  s.mscale = s.mscale_all_dim = mscale;
  s.truncate = truncate;
  return s;
}

Scaling llama3(double factor, double low = 1, double high = 4) {
  Scaling s = make(Type::llama3, factor, 8192);
  s.low_freq_factor = low;
  s.high_freq_factor = high;
  return s;
}

Scaling longrope(std::int64_t pairs, double original, double maximum, double length) {
  Scaling s = make(Type::longrope, 1, original, maximum);
  s.length = length;
  for (std::int64_t j = 0; j < pairs; ++j) {
    s.short_factor.push_back(1 + 0.017 * static_cast<double>(j));
    s.long_factor.push_back(1.03 * std::pow(1.09, static_cast<double>(j)));
  }
  return s;
}

Scaling proportional(double proportion, double factor) {
  Scaling s = make(Type::proportional, factor);
  s.proportion = proportion;
  return s;
}

Scaling dynamic(double factor, double maximum, double length) {
  Scaling s = make(Type::dynamic, factor, 0, maximum);
  s.length = length;
  return s;
}

constexpr double kLength = 131072;

// Models in use, and what lies beside them: factors that are no powers of two, widths that are none.
std::vector<Configuration> configurations() {
  return {
      {"plain", 128, 1e4, {}},
      {"plain-96", 96, 1e6, {}},
      {"linear-4", 128, 1e4, make(Type::linear, 4)},
      {"linear-3", 100, 1e4, make(Type::linear, 3)},
      {"gemma-3", 256, 1e6, make(Type::linear, 8)},
      {"linear-2.5", 80, 1e4, make(Type::linear, 2.5)},
      {"dynamic-2", 128, 1e4, dynamic(2, 4096, kLength)},
      {"dynamic-2.5", 96, 5e5, dynamic(2.5, 2048, kLength)},
      {"dynamic-short", 128, 1e4, dynamic(2, kLength, kLength)},
      {"dynamic-just-beyond", 64, 1e4, dynamic(4, kLength - 1, kLength)},
      {"deepseek-v3", 64, 1e4, yarn(40, 4096, 1)},
      {"deepseek-v2", 64, 1e4, yarn(40, 4096, 0.707)},
      {"gpt-oss", 64, 150000, yarn(32, 4096, {}, false)},
      {"yarn-llama-2", 128, 1e4, yarn(16, 4096)},
      {"qwen2.5", 128, 1e6, yarn(4, 32768)},
      {"yarn-3-80", 80, 1e4, yarn(3, 2048)},
      {"yarn-all-fast", 64, 1e4, yarn(8, 1e9)},
      {"llama-3.1-8b", 128, 5e5, llama3(8)},
      {"llama-3.2-1b", 64, 5e5, llama3(32)},
      {"llama-4-scout", 128, 5e5, llama3(16, 1, 1)},
      {"llama3-odd", 96, 1e6, llama3(7.3, 1.1, 3.7)},
      {"phi-3-long", 96, 1e4, longrope(48, 4096, 131072, kLength)},
      {"longrope-beyond", 64, 1e4, longrope(32, 4096, 16384, kLength)},
      {"longrope-same", 64, 1e4, longrope(32, 4096, 4096, kLength)},
      {"gemma-4", 256, 1e6, proportional(0.25, 1)},
      {"proportional-3", 80, 1e4, proportional(0.3, 3)},
      {"proportional-all", 64, 1e4, proportional(1, 1)},
      {"linear-1", 64, 1e4, make(Type::linear, 1)},
      {"yarn-1", 64, 1e4, yarn(1, 4096)},
      {"llama3-1", 128, 5e5, llama3(1)},
  };
}

Case problem_of(const Configuration& configuration, DType dtype) {
  Case c;
  c.rope.head_dim = configuration.width;
  c.rope.base = configuration.base;
  c.rope.scaling = configuration.scaling;
  c.dtype = dtype;
  c.positions.list = {0, 1, 17, 511, 4095, 32767, 131071};
  if (c.rope.scaling.length == 0) c.rope.scaling.length = kLength;
  return c;
}

const std::vector<std::string> kStages{"positions", "inv_freq", "angle", "cos", "sin"};

struct Judged {
  std::map<std::string, Verdict> verdicts;
  std::string first;  // whose local error fails
  double largest = 0;
};

Judged judge(const Recipe& recipe, const std::string& claims, const Case& c, const char* device) {
  std::vector<std::int64_t> rows = c.positions.list;
  const Budget budget = count_roundings(find_recipe(claims), make_device(device)->bounds(), c);
  const auto stages = RecipeRun(recipe, make_device(device), c, false).rows(rows);
  Judged out;
  for (const std::string& stage : kStages) {
    Truth truth(c.rope, c.positions);
    truth.start_block(0, c.positions.count());
    AccuracyCheck check(stage, budget, {});
    check.add(stages, truth, true);
    Result result;
    check.conclude(result);
    out.verdicts[stage] = result.verdict;
    out.largest = std::max(out.largest, result.margin.value_or(HUGE_VAL));
    if (out.first.empty() && result.verdict != Verdict::pass) out.first = stage;
  }
  return out;
}

bool knows(const Recipe& recipe, Type type) {
  return type == Type::none || std::find(recipe.scalings.begin(), recipe.scalings.end(), type) != recipe.scalings.end();
}

// Versions that are wrong by what they take for the original length, or for the list, and the base that GPT-J has.
bool right_for(const Recipe& recipe, const Configuration& configuration) {
  if (recipe.name.starts_with("gpt-j")) return configuration.base == 10000;
  const Scaling& scaling = configuration.scaling;
  if (recipe.name == "hf-llama-4.43.4" && scaling.type == Type::longrope)
    return scaling.max_position_embeddings > scaling.original_max_position_embeddings;
  const bool old = recipe.name == "hf-llama-4.43.4" || recipe.name == "hf-llama-4.50.3";
  return !old || scaling.type != Type::yarn || (scaling.truncate && !scaling.mscale);
}

TEST(ScalingRecipes, NoFalseAlarmAndNoVacuousLimit) {
  const auto recipes = all_recipes();
  int judged = 0;
  double largest = 0;
  for (const Configuration& configuration : configurations())
    for (const Recipe& recipe : recipes)
      for (const char* device : {"cpu", "cuda-math"})
        for (const DType dtype : {DType::float32, DType::bfloat16}) {
          const bool table = recipe.kind == Kind::table && !recipe.is_fault() && recipe.kernel.empty();
          if (!table || recipe.axes != Axes::one || !knows(recipe, configuration.scaling.type) ||
              !right_for(recipe, configuration))
            continue;
          const Case c = problem_of(configuration, dtype);
          const Judged result = judge(recipe, recipe.name, c, device);
          EXPECT_EQ(result.first, "") << recipe.name << " " << configuration.name << " " << device << " "
                                      << name_of(dtype) << " reaches " << result.largest;
          largest = std::max(largest, result.largest);
          ++judged;
        }
  EXPECT_GT(judged, 400);
  EXPECT_GT(largest, 0.9);
}

// A running product is what it is by its own steps, and not within the plain recipe's.
TEST(ScalingRecipes, RunningProductsKeepTheirOwnLimits) {
  for (const char* name : {"ggml-cpu", "mlx-graph"})
    for (const Configuration& configuration : configurations()) {
      const Recipe recipe = find_recipe(name);
      if (!knows(recipe, configuration.scaling.type) || !configuration.scaling.truncate) continue;  // ggml always cuts
      EXPECT_EQ(judge(recipe, name, problem_of(configuration, DType::float32), "cpu").first, "")
          << name << " " << configuration.name;
    }
}

TEST(ScalingRecipes, WhatAProjectDoesNotKnowIsRefused) {
  const Case c = problem_of({"yarn", 64, 1e4, yarn(4, 4096)}, DType::float32);
  EXPECT_THROW(judge(find_recipe("hf-llama-4.37"), "hf-llama-4.37", c, "cpu"), Refused);
  EXPECT_THROW(count_roundings(find_recipe("litgpt"), make_device("cpu")->bounds(), c), Refused);
}

struct Wrong {
  const char* fault;
  Scaling scaling;
  const char* stage;  // "": dormant there
};

Scaling with_factor(Scaling s, double attention_factor) {
  s.attention_factor = attention_factor;
  return s;
}
Scaling with_maximum(Scaling s, double maximum) {
  s.max_position_embeddings = maximum;
  return s;
}

TEST(ScalingRecipes, EachFaultIsFoundAtItsStage) {
  const Wrong wrongs[] = {
      {"scaling-dropped", llama3(32), "inv_freq"},
      {"scaling-dropped", make(Type::linear, 2), "inv_freq"},
      {"scaling-dropped", dynamic(2, 4096, kLength), "inv_freq"},
      {"scaling-dropped", yarn(4, 4096), "inv_freq"},
      {"amplitude-squared", yarn(128, 4096), "cos"},
      {"amplitude-squared", longrope(32, 4096, 131072, kLength), "cos"},
      {"amplitude-squared", yarn(40, 4096, 1), ""},
      {"amplitude-dropped", yarn(32, 4096), "cos"},
      {"amplitude-logged-twice", yarn(64, 4096), "cos"},
      {"amplitude-logged-twice", yarn(32, 4096), "cos"},
      {"amplitude-attention-factor-ignored", with_factor(yarn(64, 4096), 1), "cos"},
      {"amplitude-attention-factor-ignored", yarn(64, 4096), ""},
      {"amplitude-is-the-factor", yarn(4, 4096), "cos"},
      {"yarn-range-truncated", yarn(32, 4096, {}, false), "inv_freq"},
      {"yarn-range-truncated", yarn(32, 4096), ""},
      {"yarn-range-of-maximum", with_maximum(yarn(4, 32768), 131072), "inv_freq"},
      {"yarn-range-of-maximum", yarn(4, 32768), ""},
      {"yarn-ramp-mirrored", yarn(4, 4096), "inv_freq"},
      {"litgpt-0.5.13-yarn", yarn(4, 4096), "inv_freq"},
      {"longrope-long-at-original", longrope(32, kLength, 2 * kLength, kLength), "inv_freq"},
      {"longrope-long-at-original", longrope(32, kLength, 2 * kLength, kLength - 1), ""},
      {"longrope-long-at-original", longrope(32, kLength, 2 * kLength, kLength + 1), ""},
      {"longrope-always-long", longrope(32, kLength, 2 * kLength, kLength), "inv_freq"},
      {"longrope-always-long", longrope(32, kLength, 2 * kLength, kLength + 1), ""},
      {"ggml-cpu", {}, "inv_freq"},
      {"ggml-cpu", yarn(4, 4096), "inv_freq"},
      {"mlx-graph", {}, "inv_freq"},
  };
  for (const Wrong& wrong : wrongs)
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      const Recipe recipe = find_recipe(wrong.fault);
      const Case c = problem_of({"", 64, 150000, wrong.scaling}, dtype);
      EXPECT_EQ(judge(recipe, recipe.parent, c, "cpu").first, wrong.stage) << wrong.fault << " " << name_of(dtype);
    }
}

}  // namespace
}  // namespace ropewalk
