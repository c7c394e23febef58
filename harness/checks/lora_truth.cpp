#include <algorithm>
#include <map>

#include "harness/checks/whole_truth.hpp"
#include "reference/lora.hpp"

namespace ropewalk {
namespace {

using reference::LoraStage;

reference::LoraMap map_of(const Lora& lora) {
  reference::LoraMap map;
  map.heads = lora.heads;
  map.groups = lora.groups;
  map.head_dim = lora.head_dim;
  std::copy(lora.enable.begin(), lora.enable.end(), std::begin(map.enable));
  map.layout = lora.layout == "grouped" ? reference::LoraLayout::grouped : reference::LoraLayout::contiguous;
  return map;
}

reference::LoraScale scale_of(const Lora& lora) {
  const auto kind = lora.scale == "alpha/r"         ? reference::LoraScale::over_r
                    : lora.scale == "alpha/sqrt(r)" ? reference::LoraScale::over_sqrt_r
                                                    : reference::LoraScale::plain;
  return {lora.alpha, lora.r, kind};
}

const std::map<std::string, LoraStage> kStages{
    {"lora_delta", LoraStage::delta},       {"lora_padded", LoraStage::padded}, {"output", LoraStage::output},
    {"lora_merged", LoraStage::merged},     {"grad_x", LoraStage::grad_x},      {"grad_lora_a", LoraStage::grad_lora_a},
    {"grad_lora_b", LoraStage::grad_lora_b}};

class LoraTruth final : public WholeTruth {
 public:
  LoraTruth(const Case& problem, const Stages& inputs) : problem_(problem), lora_(*problem.lora) {
    for (const auto& [name, tensor] : inputs) doubles_[name] = to_doubles(tensor);
    exact_ = {map_of(lora_), scale_of(lora_), {}};
    exact_.inputs.rows = lora_.batch * lora_.seq;
    exact_.inputs.in = lora_.embedding;
    exact_.inputs.x = doubles_["x"];
    exact_.inputs.weight = doubles_["weight"];
    exact_.inputs.bias = doubles_["bias"];
    exact_.inputs.a = doubles_["lora_a"];
    exact_.inputs.b = doubles_["lora_b"];
    exact_.inputs.grad_output = doubles_["grad_output"];
  }

  const StageTruth& total(const std::string& stage) override {
    auto [entry, is_new] = totals_.try_emplace(stage);
    if (!is_new) return entry->second;
    StageTruth& out = entry->second = truth(stage, exact_);
    if (stage != "lora_index")
      out.nearest =
          reference::round_certified(format_of(problem_.dtype), kStages.at(stage), exact_, out.values, proof_);
    return out;
  }

  StageTruth local(const std::string& stage, const Stages& observed) override {
    reference::LoraProblem from = exact_;
    std::vector<double> earlier;
    const char* needed = stage == "lora_padded" ? "lora_delta" : stage == "output" ? "lora_padded" : nullptr;
    const auto seen = needed ? observed.find(needed) : observed.end();
    if (seen == observed.end() || seen->second.empty()) return total(stage);
    earlier = to_doubles(seen->second);
    (stage == "output" ? from.inputs.padded : from.inputs.delta) = earlier;
    return truth(stage, from);
  }

  bool only_moves(const std::string& stage, const Stages& observed) const override {
    return stage == "lora_index" || (stage == "lora_padded" && observed.contains("lora_delta"));
  }

 private:
  Shape shape_of(const std::string& stage) const {
    const std::int64_t out = lora_.out_size(), enabled = lora_.enabled_size();
    const auto parts = static_cast<std::int64_t>(lora_.part_sizes().size());
    if (stage == "lora_index") return {enabled};
    if (stage == "lora_delta") return {lora_.batch, lora_.seq, enabled};
    if (stage == "lora_merged") return {out, lora_.embedding};
    if (stage == "grad_x") return {lora_.batch, lora_.seq, lora_.embedding};
    if (stage == "grad_lora_a") return {lora_.r * parts, lora_.embedding};
    if (stage == "grad_lora_b") return {enabled, lora_.r};
    return {lora_.batch, lora_.seq, out};
  }

  StageTruth truth(const std::string& stage, const reference::LoraProblem& problem) const {
    StageTruth out;
    out.shape = shape_of(stage);
    if (stage == "lora_index") {
      for (const std::int64_t row : reference::lora_index(problem.map)) {
        out.values.head.push_back(static_cast<double>(row));
      }
      out.values.tail.assign(out.values.size(), 0);
      out.values.bound.assign(out.values.size(), 0);
      return out;
    }
    out.values = reference::lora_enclosures(kStages.at(stage), problem);
    return out;
  }

  const Case& problem_;
  Lora lora_;
  std::map<std::string, std::vector<double>> doubles_;
  reference::LoraProblem exact_;
  std::map<std::string, StageTruth> totals_;
};

}  // namespace

std::unique_ptr<WholeTruth> make_lora_truth(const Case& problem, const Stages& inputs) {
  return std::make_unique<LoraTruth>(problem, inputs);
}

}  // namespace ropewalk
