#include "harness/cases/exact_lora.hpp"

#include <algorithm>

namespace ropewalk {

reference::LoraProblem exact_lora(const Lora& lora, const std::map<std::string, std::vector<double>>& inputs) {
  using reference::LoraScale;
  reference::LoraProblem exact;
  exact.map.heads = lora.heads;
  exact.map.groups = lora.groups;
  exact.map.head_dim = lora.head_dim;
  std::copy(lora.enable.begin(), lora.enable.end(), std::begin(exact.map.enable));
  exact.map.layout = lora.layout == "grouped" ? reference::LoraLayout::grouped : reference::LoraLayout::contiguous;
  exact.scale = {lora.alpha, lora.r,
                 lora.scale == "alpha/r"         ? LoraScale::over_r
                 : lora.scale == "alpha/sqrt(r)" ? LoraScale::over_sqrt_r
                                                 : LoraScale::plain};
  exact.inputs.rows = lora.batch * lora.seq;
  exact.inputs.in = lora.embedding;
  exact.inputs.x = inputs.at("x");
  exact.inputs.weight = inputs.at("weight");
  if (lora.bias) exact.inputs.bias = inputs.at("bias");
  exact.inputs.a = inputs.at("lora_a");
  exact.inputs.b = inputs.at("lora_b");
  exact.inputs.grad_output = inputs.at("grad_output");
  return exact;
}

reference::LoraStage lora_stage(const std::string& stage) {
  using reference::LoraStage;
  static const std::map<std::string, LoraStage> stages{
      {"lora_delta", LoraStage::delta},       {"lora_padded", LoraStage::padded},
      {"output", LoraStage::output},          {"lora_merged", LoraStage::merged},
      {"grad_x", LoraStage::grad_x},          {"grad_lora_a", LoraStage::grad_lora_a},
      {"grad_lora_b", LoraStage::grad_lora_b}};
  return stages.at(stage);
}

Shape lora_shape(const Lora& lora, const std::string& stage) {
  const std::int64_t out = lora.out_size(), enabled = lora.enabled_size();
  const auto parts = static_cast<std::int64_t>(lora.part_sizes().size());
  if (stage == "lora_index") return {enabled};
  if (stage == "lora_delta") return {lora.batch, lora.seq, enabled};
  if (stage == "lora_merged") return {out, lora.embedding};
  if (stage == "grad_x") return {lora.batch, lora.seq, lora.embedding};
  if (stage == "grad_lora_a") return {lora.r * parts, lora.embedding};
  if (stage == "grad_lora_b") return {enabled, lora.r};
  return {lora.batch, lora.seq, out};
}

}  // namespace ropewalk
