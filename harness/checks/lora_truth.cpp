#include <map>

#include "harness/cases/exact_lora.hpp"
#include "harness/checks/whole_truth.hpp"

namespace ropewalk {
namespace {

class LoraTruth final : public WholeTruth {
 public:
  LoraTruth(const Case& problem, const Stages& inputs) : problem_(problem), lora_(*problem.lora) {
    for (const auto& [name, tensor] : inputs) doubles_[name] = to_doubles(tensor);
    exact_ = exact_lora(lora_, doubles_);
  }

  const StageTruth& total(const std::string& stage) override {
    auto [entry, is_new] = totals_.try_emplace(stage);
    if (!is_new) return entry->second;
    StageTruth& out = entry->second = truth(stage, exact_);
    if (stage != "lora_index")
      out.nearest =
          reference::round_certified(format_of(problem_.dtype), lora_stage(stage), exact_, out.values, proof_);
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
  StageTruth truth(const std::string& stage, const reference::LoraProblem& problem) const {
    StageTruth out;
    out.shape = lora_shape(lora_, stage);
    if (stage == "lora_index") {
      for (const std::int64_t row : reference::lora_index(problem.map)) {
        out.values.head.push_back(static_cast<double>(row));
      }
      out.values.tail.assign(out.values.size(), 0);
      out.values.bound.assign(out.values.size(), 0);
      return out;
    }
    out.values = reference::lora_enclosures(lora_stage(stage), problem);
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
