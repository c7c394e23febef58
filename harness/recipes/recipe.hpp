// A recipe: how a real project computes the stages, as data. docs/add_a_recipe.md shows how to write one.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "harness/tensors/dtype.hpp"

namespace ropewalk {

// Where a step runs: the subject's device, or the CPU whatever the device (the result is then moved: same bits).
enum class Place { device, cpu };

enum class Op {
  positions,   // the position numbers in `dtype`; no operands
  arange,      // start, end, step (numbers or parameters) in `dtype`
  cast,        // x to `dtype`
  multiply,    // x * y; positions [rows] by frequencies [pairs] make [rows, pairs]
  divide,      // x / y, as the project's framework divides on that device (by a scalar, CUDA multiplies by 1/y)
  add,         // x + y
  subtract,    // x - y
  negate,      // -x
  power,       // x ^ y, one of them a number: base ^ tensor
  reciprocal,  // 1 / x
  exp,         // e ^ x
  log,         // ln x
  exp2,        // 2 ^ x
  floor,       // largest integer <= x
  cos,
  sin,
  polar,  // complex64: cos(x) + i sin(x), as at::polar computes it
  real,   // of a complex tensor
  imag,
  keep_bits,  // x with all but the first n significand bits cut (n a number): hardware formats such as TF32
};

// An operand: an earlier result by name, a parameter of the problem by name, or a number.
using Operand = std::variant<std::string, double>;

struct Step {
  Op op = Op::cast;
  std::vector<Operand> in;  // default: the result of the step before, in the same stage
  std::string dtype;  // a dtype's name, "activation" (the case's dtype), or a stage's name (the dtype that it has)
  std::string as;     // a name for the result, that later steps of any stage may use; may be empty
  Place place = Place::device;
};

struct StageSteps {
  std::string stage;  // positions, inv_freq, angle, cos or sin; its value is the last step's result
  std::vector<Step> steps;
};

struct Recipe {
  std::string name, title, source;   // source: the version of the project that was read, and where it is described
  std::string parent;                // for a fault: the recipe whose limits judge it; empty otherwise
  std::string wakes;                 // for a fault: the inputs that show it
  std::vector<std::string> changed;  // for a fault: the stages that it replaces
  std::vector<std::string> buffers;  // stages that a cast of the module rounds to its dtype
  std::vector<StageSteps> stages;    // in the order in which they run; the parent's where a fault does not replace them
  bool is_fault() const { return !parent.empty(); }
  const StageSteps* stage(const std::string& stage_name) const;
};

Recipe read_recipe(
    const std::filesystem::path& file);  // throws BadInput; the parent is read from its folder or the one above
std::filesystem::path recipe_folder();   // $ROPEWALK_RECIPES, or beside the program (installed or in the source tree)
std::vector<Recipe> all_recipes();       // published ones first, then faults, each by name
Recipe find_recipe(const std::string& name);  // throws BadInput that lists the nearest names

}  // namespace ropewalk
