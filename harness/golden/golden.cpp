#include "harness/golden/golden.hpp"

#include <array>
#include <cmath>

#include "harness/bad_input.hpp"
#include "harness/cases/cell.hpp"
#include "harness/golden/attention.hpp"
#include "harness/golden/lora.hpp"
#include "harness/golden/table.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargestWidth = 65536;
constexpr std::array<std::string_view, 3> kKinds{"rope_table", "lora_pad", "attention"};
constexpr std::array<std::string_view, 4> kDTypes{"float64", "float32", "bfloat16", "float16"};

DType read_dtype(const Object& parameters) { return *dtype_named(kDTypes[parameters.need("dtype").choice(kDTypes)]); }

TableProblem read_table(const Object& parameters) {
  TableProblem problem;
  Rope& rope = problem.rope;
  rope.head_dim = parameters.need("rotary_dim").whole();
  if (rope.head_dim < 2 || rope.head_dim % 2 != 0 || rope.head_dim > kLargestWidth)
    parameters.need("rotary_dim").refuse("an even width of at least 2");
  rope.base = parameters.need("base").number();
  if (!(rope.base > 0) || !std::isnormal(rope.base))
    parameters.need("base").refuse("a positive normal number is needed");
  if (const auto scaling = parameters.find("scaling")) {
    rope.scaling = read_scaling_block(*scaling);
    check_scaling_values(rope, *scaling, "type");
  }
  if (const auto axes = parameters.find("axes")) read_axes_block(*axes, rope);
  problem.axes = read_axis_rows(parameters.need("positions"), rope.axes());
  problem.dtype = read_dtype(parameters);
  return problem;
}

// A case with generated inputs again.
Case read_case(const Object& parameters, const char* block, const std::string& case_id) {
  parameters.need(block);
  Case problem = read_cell(parameters);
  problem.id = case_id;
  const std::int64_t seed = parameters.need("seed").whole();
  if (seed < 0) parameters.need("seed").refuse("a whole number that is not negative");
  problem.seed = static_cast<std::uint64_t>(seed);
  problem.dtype = read_dtype(parameters);
  return problem;
}

}  // namespace

GoldenFile golden_of(const Case& problem) {
  if (problem.state)
    throw BadInput(problem.file, problem.id, "state", "golden tensors have no calls; leave this case out");
  if (problem.rope.axes() > 1 && problem.kind() != Kind::table)
    throw BadInput(problem.file, problem.id, "positions of several axes",
                   "golden attention of them is not supported by this version; accepted: one axis, or a table");
  if (problem.kind() == Kind::attention) return golden_attention(problem);
  if (problem.kind() == Kind::lora) return golden_lora(problem);
  if (!std::isnormal(problem.rope.base))
    Field(problem.file, problem.id + ": base", Json(problem.rope.base)).refuse("a positive normal number is needed");
  Rope rope = problem.rope;
  rope.head_dim = rope.rotary_dim();
  rope.partial_rotary_factor = 1;
  return golden_table({rope, axis_rows_of(problem.positions), problem.dtype});
}

GoldenFile golden_from(const Field& kind, const Field& parameters, const std::string& case_id) {
  const std::string_view name = kKinds[kind.choice(kKinds)];
  if (name == "rope_table")
    return golden_table(
        read_table(Object(parameters, {"rotary_dim", "base", "scaling", "axes", "positions", "dtype"})));
  if (name == "lora_pad") return golden_lora(read_case(Object(parameters, {"lora", "seed", "dtype"}), "lora", case_id));
  return golden_attention(read_case(Object(parameters, {"rope", "attention", "seed", "dtype"}), "attention", case_id));
}

}  // namespace ropewalk
