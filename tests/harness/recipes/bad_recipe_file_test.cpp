// Every kind of bad recipe gives one line that names the file, the field, the value and what is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/cases/fields.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/recipes/words.hpp"
#include "tests/harness/cases/mistakes.hpp"

namespace ropewalk::test {
namespace {

constexpr const char* kGood = R"({
  "schema_version": 1, "name": "r", "title": "t", "source": "s", "stages": {
    "inv_freq": [{"op": "arange", "in": [0, "rotary_dim", 2], "dtype": "int64"}, {"op": "cast", "dtype": "float32"},
                 {"op": "power", "in": ["base", "previous"], "as": "powers"}, {"op": "reciprocal"}],
    "positions": [{"op": "positions", "dtype": "inv_freq"}],
    "angle": [{"op": "multiply", "in": ["positions", "inv_freq"]}],
    "cos": [{"op": "cos", "in": ["angle"]}, {"op": "cast", "dtype": "activation"}],
    "sin": [{"op": "sin", "in": ["angle"]}, {"op": "cast", "dtype": "activation"}]}})";
constexpr const char* kFault = R"({
  "schema_version": 1, "name": "f", "title": "t", "source": "s", "parent": "r", "wakes": "w",
  "stages": {"angle": [{"op": "add", "in": ["positions", "inv_freq"]}]}})";

const Mistake kMistakes[] = {
    {R"({"/schema_version": null})", "schema_version: this field is missing"},
    {R"({"/schema_version": 3})", "schema_version: 3: this version reads schema_version 1"},
    {R"({"/title": null})", "title: this field is missing"},
    {R"({"/source": 5})", "source: 5: a text is needed"},
    {R"({"/name": "a b"})", R"(name: "a b": a name is made of letters, digits and . _ @ + -)"},
    {R"({"/stage": {}})",
     "stage: {}: unknown field, did you mean stages?; accepted: schema_version, kind, name, title, source, parent, "
     "wakes, "
     "table, forward, scalings, keeps, axes, kernel, at, buffers, stages"},
    {R"({"/at": "cuda"})", R"(at: "cuda": one of device, cpu, meta)"},
    {R"({"/buffers": ["inv_freqs"]})",
     R"(buffers[0]: "inv_freqs": one of positions, inv_freq, angle, cos, sin, did you mean inv_freq?)"},
    {R"({"/buffers": ["cos", "cos"]})", R"(buffers[1]: "cos": each one once)"},
    {R"({"/parent": "p"})", R"(parent: "p": a fault has "wakes" beside it)"},
    {R"({"/wakes": "w"})", R"(wakes: "w": a fault has "parent" beside it)"},
    {R"({"/stages/sin": null})", "stages.sin: this stage is missing"},
    {R"({"/stages/scores": [{"op": "cos"}]})",
     R"(stages.scores: [{"op":"cos"}]: unknown field; accepted: positions, inv_freq, angle, cos, sin)"},
    {R"({"/stages/cos": []})", "stages.cos: []: a list with at least one entry is needed"},
    {R"({"/stages/cos": {"at": "cpu"}})", "stages.cos.steps: this field is missing"},
    {R"({"/stages/cos": {"at": "gpu", "steps": [{"op": "cos", "in": ["angle"]}]}})",
     R"(stages.cos.at: "gpu": one of device, cpu, meta, did you mean cpu?)"},
    {R"({"/stages/cos/0": "cos"})", R"(stages.cos[0]: "cos": an object with the fields op, in, dtype, as, at, when)"},
    {R"({"/stages/cos/0/dytpe": "float32"})",
     R"(stages.cos[0].dytpe: "float32": unknown field, did you mean dtype?; accepted: op, in, dtype, as, at, when)"},
    {R"({"/stages/cos/0/op": "cosine"})",
     R"(stages.cos[0].op: "cosine": one of positions, arange, scalar, cast, multiply, divide, add, subtract, negate, power, reciprocal, exp, log, exp2, tanh, fma, mask_outside, floor, cos, sin, polar, real, imag, clamp, select_less, running_product, keep_bits, less_turns, less_turns_fma, half_turns, half_turns_fma, cos_pi, sin_pi, cos_fast, sin_fast, same, clone, reshape, transpose, slice, concat, stack, repeat_interleave, expand_repeat, index_select, index_copy, index_copy_, index_put_last_, mask_put_, slices_put_, zeros, empty, to_empty, tensor_of_list, lora_rows, segment_rows, group_rows, enabled_mask, matmul, linear, conv_parts, conv_grouped, part_products, part_outer, sum, largest, softmax, softmax_backward, complex_rotate, sdpa_math, sdpa_flash, add_, multiply_, did you mean cos?)"},
    {R"({"/stages/cos/0/dtype": "float32"})",
     R"(stages.cos[0].dtype: "float32": only positions, arange, scalar, cast, mask_outside, softmax, zeros and empty take a dtype)"},
    {R"({"/stages/cos/1/dtype": null})", "stages.cos[1].dtype: this field is missing"},
    {R"({"/stages/cos/1/dtype": "complex64"})",
     R"(stages.cos[1].dtype: "complex64": one of float64, float32, bfloat16, float16, int64, int32, activation, positions, inv_freq, angle, cos, sin)"},
    {R"({"/stages/inv_freq/1/dtype": "angle"})",
     "stages.inv_freq[1].dtype: angle: this stage runs later; a stage before this one is needed"},
    {R"({"/stages/angle/0/in": ["positions"]})", R"(stages.angle[0].in: ["positions"]: multiply takes 2 operands)"},
    {R"({"/stages/angle/0/in": null})", R"(stages.angle[0]: {"op":"multiply"}: multiply takes 2 operands)"},
    {R"({"/stages/cos/0/in": ["angle", 1]})", R"(stages.cos[0].in: ["angle",1]: cos takes 1 operands)"},
    {R"({"/stages/positions/0/in": [1]})", "stages.positions[0].in: [1]: positions takes 0 operands"},
    {R"({"/stages/cos/0/in": [1]})", "stages.cos[0].in: [1]: an earlier result is needed among the operands"},
    {R"({"/stages/cos/0/in": [true]})", "stages.cos[0].in[0]: true: a text is needed"},
    {R"({"/stages/inv_freq/0/in": [0, "previous", 2]})",
     R"(stages.inv_freq[0].in: [0,"previous",2]: start, end and step are numbers or parameters)"},
    {R"({"/stages/angle/0": {"op": "scalar", "in": ["positions"], "dtype": "float32"}})",
     R"(stages.angle[0].in: ["positions"]: a number or a parameter is needed)"},
    {R"({"/scalings": ["none"]})",
     R"(scalings[0]: "none": one of linear, dynamic, yarn, longrope, llama3, proportional)"},
    {R"({"/scalings": ["yarn", "yarn"]})", R"(scalings[1]: "yarn": each one once)"},
    {R"({"/forward": "r"})", R"(forward: "r": this goes with recipes of kind attention only)"},
    {R"({"/stages/angle/0/when": "all_enabled"})",
     R"(stages.angle[0].when: "all_enabled": one of linear, dynamic, yarn, longrope, llama3, proportional, dynamic_beyond_maximum, longrope_long, longrope_short, longrope_long_by_maximum, longrope_short_by_maximum, longrope_long_from_original, longrope_short_below_original)"},
    {R"({"/stages/angle/0": {"op": "keep_bits", "in": ["positions", 25]}})",
     "stages.angle[0].in[1]: 25: a number of bits from 1 to 24 is needed"},
    {R"({"/stages/cos/0/in": null})",
     "stages.cos[0].in[0]: previous: a stage's first step has no step before it; name its operand"},
    {R"({"/stages/angle/0/in": ["positions", "inv_frek"]})",
     "stages.angle[0].in[1]: inv_frek: unknown operand; defined here are previous, {lists}, "
     "positions, powers, short_factor, {words} and numbers, did you mean inv_freq?"},
    {R"({"/stages/angle/0/in": ["positions", "sin"]})",
     "stages.angle[0].in[1]: sin: this stage runs later; defined here are previous, {lists}, "
     "positions, powers, short_factor, {words} and numbers"},
    {R"({"/stages/angle/0/as": "powers"})",
     "stages.angle[0].as: powers: an earlier step has this name; names are unique"},
    {R"({"/stages/angle/0/as": "sin"})",
     R"(stages.angle[0].as: "sin": a name that is no stage, parameter or dtype, and not "previous")"},
    {R"({"/stages/angle/0/as": "base"})",
     R"(stages.angle[0].as: "base": a name that is no stage, parameter or dtype, and not "previous")"},
};

// With the parameters of a table for {words}, and for {lists} what is known by name before its stages have run: lists
// of the case and the first stage.
std::string in_full(std::string line) {
  const auto words = parameters_of(Kind::table);
  const auto put = [&](const std::string& mark, const std::string& text) {
    if (const auto at = line.find(mark); at != std::string::npos) line.replace(at, mark.size(), text);
  };
  put("{words}", joined(std::vector<std::string>(words.begin(), words.end())));
  put("{lists}",
      "axis_columns, axis_columns_blocked, axis_columns_exchanged, axis_columns_interleaved, inv_freq, "
      "long_factor, pairs_of_sections");
  return line;
}

TEST(BadRecipeFile, EveryMistakeGivesItsLine) {
  expect_lines(Folder(), "r.json", kGood, kMistakes, read_recipe,
               [](const char* line) { return in_full(std::string("r.json: ") + line); });
}

TEST(BadRecipeFile, StagesAfterTheirUseAreRefused) {
  const Folder folder;
  Json document = Json::parse(kGood);
  const Json inv_freq = document["stages"]["inv_freq"];
  document["stages"].erase("inv_freq");
  document["stages"]["inv_freq"] = inv_freq;
  const auto file = folder.write("r.json", document.dump());
  EXPECT_EQ(complaint(folder, [&] { read_recipe(file); }),
            "r.json: stages.positions[0].dtype: inv_freq: this stage runs later; a stage before this one is needed");
}

TEST(BadRecipeFile, FaultsNeedAPublishedParent) {
  const Mistake mistakes[] = {
      {R"({"/parent": "none"})",
       R"(faults/f.json: parent: "none": no such recipe in the fault's folder or the one above)"},
      {R"({"/parent": "f"})", R"(faults/f.json: parent: "f": no such recipe in the fault's folder or the one above)"},
      {R"({"/parent": "g"})",
       R"(faults/f.json: parent: "g": a fault's parent is a published recipe, not another fault)"},
      {R"({"/parent": "../r"})", R"(faults/f.json: parent: "../r": a name is made of letters, digits and . _ @ + -)"},
      {R"({"/wakes": null})", R"(faults/f.json: parent: "r": a fault has "wakes" beside it)"},
      {R"({"/stages": {}})", "faults/f.json: stages: {}: at least one stage is needed"},
      {R"({"/stages": {"angle": [{"op": "add", "in": ["positions", "cos"]}]}})",
       "faults/f.json: stages.angle[0].in[1]: cos: this stage runs later; defined here are previous, {lists}, "
       "positions, powers, short_factor, {words} and numbers"},
  };
  const Folder folder;
  folder.write("r.json", kGood);
  folder.write("faults/g.json", changed(kFault, R"({"/name": "g", "/parent": "f"})").dump());
  expect_lines(folder, "faults/f.json", kFault, mistakes, read_recipe, in_full);
}

TEST(BadRecipeFile, AFaultThatDropsANameItsParentUsesIsRefused) {
  const Folder folder;
  folder.write("r.json", changed(kGood, R"({"/stages/cos/0/in": ["powers"]})").dump());
  const auto file = folder.write(
      "f.json",
      changed(kFault,
              R"({"/stages": {"inv_freq": [{"op": "arange", "in": [0, "rotary_dim", 2], "dtype": "float32"}]}})")
          .dump());
  EXPECT_THAT(complaint(folder, [&] { read_recipe(file); }),
              testing::StartsWith("f.json: stages.cos[0].in[0]: powers: unknown operand; "));
}

}  // namespace
}  // namespace ropewalk::test
