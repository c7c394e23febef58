// A recipe: how a real project computes the stages, as data. docs/add_a_recipe.md shows how to write one.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "harness/cases/problem.hpp"
#include "harness/tensors/dtype.hpp"

namespace ropewalk {

// Positions that a recipe takes: of one axis, of several with their sections one after the other or interleaved, or of
// rows and columns.
enum class Axes { one, blocked, interleaved, axial };
std::string_view name_of(Axes axes);

// Where a step runs: the subject's device, or the CPU whatever the device (the result is then moved: same bits). On the
// meta device a tensor has a shape and a dtype and no elements.
enum class Place { device, cpu, meta };

enum class Op {
  positions,   // the position numbers in `dtype`; no operands
  arange,      // start, end, step (numbers or parameters) in `dtype`
  scalar,      // a number or parameter as a tensor without dimensions, in `dtype`
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
  tanh,
  fma,           // x * y + z, rounded once
  mask_outside,  // in `dtype`: 0 where lowest <= x <= highest, else -infinity
  floor,         // largest integer <= x
  cos,
  sin,
  polar,  // complex64: cos(x) + i sin(x), as at::polar computes it
  real,   // of a complex tensor
  imag,
  clamp,            // x, low, high (numbers)
  select_less,      // x, y, a, b: where x < y, a, else b
  running_product,  // x, r, n: x, x r, (x r) r, ... to n columns, each rounded; float32
  keep_bits,        // x with all but the first n significand bits cut (n a number): hardware formats such as TF32
  less_turns,       // float64 x less the nearest multiple of 2 pi, to float32: (x - n hi) - n lo, five roundings
  less_turns_fma,   // the same by two FMAs, three roundings
  half_turns,       // float64 x / pi less the nearest multiple of 2, to float32: x times 1/(2 pi), less n, doubled
  half_turns_fma,   // the same by one FMA
  cos_pi,           // cos(pi x), as CUDA's cospif
  sin_pi,
  cos_fast,  // the hardware's approximation, as CUDA's __cosf: bounded by its documentation
  sin_fast,

  // Movements of elements. Axes, sizes and counts are numbers or parameters; axes may count from the end (-1).
  same,               // x itself: the object, not a copy
  clone,              // a copy of x
  reshape,            // x, sizes (one of them may be -1)
  transpose,          // x, axis, axis
  slice,              // x, axis, start, end, step
  concat,             // axis, x, y, ...
  stack,              // axis, x, y, ...
  repeat_interleave,  // x, axis, n: each entry n times, neighbours
  expand_repeat,      // the same by a view of stride 0 and one copy
  index_select,       // x, axis, index
  index_copy,         // target, axis, index, source: a new tensor
  index_copy_,        // the same into the target
  index_put_last_,    // target[..., index] = source
  mask_put_,          // target[mask] = source, along the first axis
  slices_put_,     // target[..., a:b] = source[..., i:j] for each run of neighbours in the index: target, index, source
  zeros,           // sizes
  empty,           // sizes; filled with a canary (docs/numerics.md) that no computation leaves behind
  to_empty,        // x materialised from the meta device: its shape and dtype, elements as in empty
  tensor_of_list,  // a list of numbers on the host, copied to the device: a new tensor for each call

  // Rows of the LoRA update in the fused projection, as lists on the host.
  lora_rows,     // by the case's layout
  segment_rows,  // q|k|v of these three lengths, the enabled ones
  group_rows,    // q..q k v for each group, the enabled ones: all q rows, then all k, then all v
  enabled_mask,  // one flag for each row; three parts of equal size

  // Sums of products, in the device's order.
  matmul,            // x, y
  linear,            // x, weight, and perhaps a bias: x W^T + bias
  conv_parts,        // x, weights, three sizes: a convolution of width 1 for each enabled part, concatenated
  conv_grouped,      // x, weights, n: one grouped convolution of width 1
  part_products,     // g, weights, three sizes: the products g_j weights_j of the enabled parts, concatenated
  part_outer,        // g, x, three sizes: the sums over rows g_j^T x_j of the enabled parts, stacked
  sum,               // x, axis
  largest,           // x, axis: the largest along it, which stays with size 1
  softmax,           // x, axis, with `dtype` of the result
  softmax_backward,  // g, p, axis: p (g - sum g p), as the framework's kernel computes it
  complex_rotate,    // x, cos, sin: neighbouring channels as complex numbers, times cos + i sin
  sdpa_math,         // q, k, v [batch, heads, seq, dim], mask, perhaps the scale: LibTorch's plain scaled dot product
                     // attention
  sdpa_flash,        // the same by its blocked kernel for the CPU
  add_,              // x += y
  multiply_,         // x *= y
};

// By their place in the list above.
constexpr bool sums_products(Op op) { return op >= Op::matmul; }
constexpr bool moves_elements(Op op) { return op >= Op::same && !sums_products(op); }
constexpr bool writes_in_place(Op op) {
  return op == Op::index_copy_ || op == Op::index_put_last_ || op == Op::mask_put_ || op == Op::slices_put_ ||
         op == Op::add_ || op == Op::multiply_;
}

// An operand: an earlier result by name, a parameter of the problem by name, or a number.
using Operand = std::variant<std::string, double>;

struct Step {
  Op op = Op::cast;
  std::vector<Operand> in;  // default: the result of the step before, in the same stage
  std::string dtype;  // a dtype's name, "activation" (the case's dtype), or a stage's name (the dtype that it has)
  std::string as;     // a name for the result, that later steps of any stage may use; may be empty
  Place place = Place::device;
  std::string when;  // only if this condition holds (words.hpp); may be empty
  bool operator==(const Step&) const = default;
};

struct StageSteps {
  std::string stage;  // one of stages_of(the recipe's kind); its value is the last step's result
  std::vector<Step> steps;
  bool operator==(const StageSteps&) const = default;
};

// What a project keeps from call to call, and with it the length that a call's frequencies are of (state.hpp).
enum class Keeps {
  nothing,  // its own
  table,    // of the longest so far: a table is made anew for a call longer than all before, and never shrinks
  // Of dynamic scaling alone; other kinds look at each call's length, or at none.
  last_frequencies,     // of the last call beyond the maximum
  longest_frequencies,  // of the longest; a call below the maximum, after one beyond, brings back the first frequencies
  longest_frequencies_and_lists,   // the same; longrope's two lists of frequencies are kept as they were first made
  longest_frequencies_in_buffers,  // the same; but all that is brought back is a buffer, which a cast reaches
};

struct Recipe {
  Kind kind = Kind::table;
  std::string name, title, source;   // source: the version of the project that was read, and where it is described
  std::string parent;                // for a fault: the recipe whose limits judge it; empty otherwise
  std::string wakes;                 // for a fault: the inputs that show it
  std::vector<std::string> changed;  // for a fault: the stages that it replaces
  std::string kernel;                // of this project's own that computes what the steps say (kernels.hpp); or empty
  std::vector<std::string> buffers;  // stages that a cast of the module rounds to its dtype
  std::vector<reference::Scaling::Type> scalings;  // that it knows, beside none
  Keeps keeps = Keeps::nothing;
  Axes axes = Axes::one;
  std::vector<StageSteps> stages;  // in the order in which they run; the parent's where a fault does not replace them
  bool is_fault() const { return !parent.empty(); }
  const StageSteps* stage(const std::string& stage_name) const;
};

Recipe read_recipe(
    const std::filesystem::path& file);  // throws BadInput; the parent is read from its folder or the one above
std::filesystem::path recipe_folder();   // $ROPEWALK_RECIPES, or beside the program (installed or in the source tree)
std::vector<Recipe> all_recipes();       // published ones, kernels, faults, each by name
Recipe find_recipe(const std::string& name);  // throws BadInput that lists the nearest names

}  // namespace ropewalk
