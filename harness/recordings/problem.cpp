#include "harness/cases/cell.hpp"
#include "harness/cases/inputs.hpp"
#include "harness/golden/rows.hpp"
#include "harness/golden/sha256.hpp"
#include "harness/recordings/recording.hpp"

namespace ropewalk {
namespace {

std::string hash_of_inputs(const Case& problem) {
  Sha256 hash;
  for (const auto& [name, tensor] : make_inputs(problem)) {
    hash.add(std::as_bytes(std::span(name)));
    hash.add(tensor.bytes());
  }
  return hash.hex();
}

}  // namespace

std::string problem_text(const Case& problem) {
  Json out{{"kind", name_of(problem.kind())}, {"dtype", name_of(problem.dtype)}};
  if (problem.kind() != Kind::lora) {
    out["head_dim"] = problem.rope.head_dim;
    out["rotary_dim"] = problem.rope.rotary_dim();
    out["base"] = problem.rope.base;
    out["scaling"] = scaling_block(problem.rope);
    if (problem.rope.axes() > 1) out["axes"] = axes_block(problem.rope);
    if (problem.positions.axes.empty())
      out["positions"] = to_json(rows_of(problem.positions));
    else
      out["positions"] = problem.positions.axes;
  }
  if (problem.attention) out["attention"] = attention_block(*problem.attention, problem.positions.count());
  if (problem.lora) out["lora"] = lora_block(*problem.lora);
  if (problem.kind() != Kind::table) out["inputs_sha256"] = hash_of_inputs(problem);
  return out.dump();
}

}  // namespace ropewalk
