#include "harness/golden/golden.hpp"

#include <array>
#include <cmath>

#include "harness/bad_input.hpp"
#include "harness/golden/lora.hpp"
#include "harness/golden/table.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kLargestWidth = 65536;
constexpr std::array<std::string_view, 2> kKinds{"rope_table", "lora_pad"};
constexpr std::array<std::string_view, 4> kDTypes{"float64", "float32", "bfloat16", "float16"};

TableProblem read_table(const Object& parameters) {
  TableProblem problem;
  problem.rotary_dim = parameters.need("rotary_dim").whole();
  if (problem.rotary_dim < 2 || problem.rotary_dim % 2 != 0 || problem.rotary_dim > kLargestWidth)
    parameters.need("rotary_dim").refuse("an even width of at least 2");
  problem.base = parameters.need("base").number();
  if (!(problem.base > 0) || !std::isnormal(problem.base))
    parameters.need("base").refuse("a positive normal number is needed");
  problem.rows = read_rows(parameters.need("positions"));
  problem.dtype = *dtype_named(kDTypes[parameters.need("dtype").choice(kDTypes)]);
  return problem;
}

}  // namespace

GoldenFile golden_of(const Case& problem) {
  if (problem.kind() == Kind::attention)
    throw BadInput(problem.file, problem.id, "attention", "not supported by this version; accepted: rope tables, lora");
  if (problem.kind() == Kind::lora) return golden_lora(problem);
  if (!std::isnormal(problem.rope.base))
    Field(problem.file, problem.id + ": base", Json(problem.rope.base)).refuse("a positive normal number is needed");
  return golden_table({problem.rope.rotary_dim(), problem.rope.base, rows_of(problem.positions), problem.dtype});
}

GoldenFile golden_from(const Field& kind, const Field& parameters, const std::string& case_id) {
  if (kKinds[kind.choice(kKinds)] == "lora_pad") return golden_lora(read_lora_parameters(parameters, case_id));
  return golden_table(read_table(Object(parameters, {"rotary_dim", "base", "positions", "dtype"})));
}

}  // namespace ropewalk
