#include "harness/golden/lora.hpp"

#include <array>
#include <map>

#include "harness/cases/cell.hpp"
#include "harness/cases/exact_lora.hpp"
#include "harness/cases/inputs.hpp"

namespace ropewalk {
namespace {

using reference::Proof;

struct Stage {
  const char* name;
  const char* formula;
};
// G: grad_output; A_j, B_j, G_j: the rows of lora_a and lora_b and the columns of G that belong to enabled part j.
constexpr std::array<Stage, 7> kStages{{
    {"lora_delta", "scale (x A_j^T) B_j^T for each enabled part j, side by side"},
    {"lora_padded", "lora_delta (before rounding) at the columns lora_index, 0 elsewhere"},
    {"output", "x weight^T + bias + lora_padded (before rounding)"},
    {"lora_merged", "weight + scale B_j A_j at the rows lora_index, weight elsewhere"},
    {"grad_x", "G weight + sum over j of scale (G_j B_j) A_j, G being grad_output"},
    {"grad_lora_a", "scale (G_j B_j)^T x for each enabled part j, G being grad_output"},
    {"grad_lora_b", "scale G_j^T (x A_j^T) for each enabled part j, G being grad_output"},
}};

std::vector<Proof> make(const Case& problem, const Sink& sink) {
  std::vector<Proof> proofs;
  std::map<std::string, std::vector<double>> given;
  for (const auto& [name, tensor] : make_inputs(problem)) {
    given[name] = to_doubles(tensor);
    sink(proofs.size(), tensor.bytes());
    proofs.emplace_back().exact = tensor.size();
  }
  const reference::LoraProblem exact = exact_lora(*problem.lora, given);

  const std::vector<std::int64_t> index = reference::lora_index(exact.map);
  sink(proofs.size(), std::as_bytes(std::span(index)));
  proofs.emplace_back().exact = static_cast<std::int64_t>(index.size());
  for (const Stage& stage : kStages) {
    Proof proof;
    const reference::LoraStage which = lora_stage(stage.name);
    const auto values = reference::lora_enclosures(which, exact);
    const auto rounded = reference::round_certified(format_of(problem.dtype), which, exact, values, proof);
    const Tensor tensor = from_doubles(problem.dtype, lora_shape(*problem.lora, stage.name), rounded);
    sink(proofs.size(), tensor.bytes());
    proofs.push_back(proof);
  }
  return proofs;
}

std::vector<GoldenTensor> tensors_of(const Case& problem) {
  std::vector<GoldenTensor> out;
  for (const auto& [name, tensor] : make_inputs(problem))
    out.push_back({name,
                   name,
                   tensor.dtype(),
                   tensor.shape(),
                   "an input, from Philox4x32-10 keyed by the case's id, this name and the seed; taken as it is",
                   {name}});
  out.push_back({"lora_index",
                 "lora_index",
                 DType::int64,
                 lora_shape(*problem.lora, "lora_index"),
                 "the column of the projection that column i of the enabled ones goes to",
                 {"lora_index"}});
  for (const Stage& stage : kStages)
    out.push_back({stage.name,
                   stage.name,
                   problem.dtype,
                   lora_shape(*problem.lora, stage.name),
                   std::string(stage.formula) + "; a real number rounded once to " +
                       std::string(name_of(problem.dtype)) + ", to nearest, ties to even",
                   {stage.name}});
  return out;
}

}  // namespace

GoldenFile golden_lora(const Case& problem) {
  GoldenFile file;
  file.kind = "lora_pad";
  file.parameters = {{"lora", lora_block(*problem.lora)}, {"seed", problem.seed}, {"dtype", name_of(problem.dtype)}};
  file.tensors = tensors_of(problem);
  file.make = [problem](const Sink& sink) { return make(problem, sink); };
  return file;
}

}  // namespace ropewalk
