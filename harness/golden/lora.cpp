#include "harness/golden/lora.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "harness/cases/exact_lora.hpp"
#include "harness/cases/inputs.hpp"

namespace ropewalk {
namespace {

using reference::Proof;

constexpr std::array<std::string_view, 4> kDTypes{"float64", "float32", "bfloat16", "float16"};
constexpr std::array<std::string_view, 3> kScales{"alpha/r", "alpha/sqrt(r)", "alpha"};
constexpr std::array<std::string_view, 2> kLayouts{"contiguous", "grouped"};
constexpr std::array<std::string_view, 2> kInputs{"normal", "ones"};

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

std::int64_t at_least_one(const Object& object, const char* name) {
  constexpr std::int64_t kLargest = 1 << 20;
  const std::int64_t value = object.need(name).whole();
  if (value < 1 || value > kLargest) object.need(name).refuse("a whole number from 1 to 1048576 is needed");
  return value;
}

}  // namespace

GoldenFile golden_lora(const Case& problem) {
  const Lora& lora = *problem.lora;
  GoldenFile file;
  file.kind = "lora_pad";
  file.parameters = {{"heads", lora.heads},
                     {"groups", lora.groups},
                     {"head_dim", lora.head_dim},
                     {"embedding", lora.embedding},
                     {"r", lora.r},
                     {"batch", lora.batch},
                     {"seq", lora.seq},
                     {"alpha", plain_json(lora.alpha)},
                     {"scale", lora.scale},
                     {"enable", lora.enable},
                     {"layout", lora.layout},
                     {"bias", lora.bias},
                     {"inputs", lora.inputs},
                     {"seed", problem.seed},
                     {"dtype", name_of(problem.dtype)}};
  file.tensors = tensors_of(problem);
  file.make = [problem](const Sink& sink) { return make(problem, sink); };
  return file;
}

Case read_lora_parameters(const Field& parameters, const std::string& case_id) {
  const Object object(parameters, {"heads", "groups", "head_dim", "embedding", "r", "batch", "seq", "alpha", "scale",
                                   "enable", "layout", "bias", "inputs", "seed", "dtype"});
  Lora lora;
  lora.heads = at_least_one(object, "heads");
  lora.groups = at_least_one(object, "groups");
  if (lora.heads % lora.groups != 0) object.need("groups").refuse("a divisor of heads");
  lora.head_dim = at_least_one(object, "head_dim");
  lora.embedding = at_least_one(object, "embedding");
  lora.r = at_least_one(object, "r");
  lora.batch = at_least_one(object, "batch");
  lora.seq = at_least_one(object, "seq");
  lora.alpha = object.need("alpha").number();
  lora.scale = kScales[object.need("scale").choice(kScales)];
  const auto enable = object.need("enable").items();
  if (enable.size() != lora.enable.size()) object.need("enable").refuse("three, of q, k, v");
  std::transform(enable.begin(), enable.end(), lora.enable.begin(), [](const Field& f) { return f.flag(); });
  lora.layout = kLayouts[object.need("layout").choice(kLayouts)];
  lora.bias = object.need("bias").flag();
  lora.inputs = kInputs[object.need("inputs").choice(kInputs)];
  Case problem;
  problem.id = case_id;
  problem.seed = static_cast<std::uint64_t>(object.need("seed").whole());
  problem.dtype = *dtype_named(kDTypes[object.need("dtype").choice(kDTypes)]);
  problem.lora = lora;
  return problem;
}

}  // namespace ropewalk
