#include "harness/checks/whole_truth.hpp"

namespace ropewalk {
namespace {

// Of the reference itself, and of bounds that were summed in float64: both far below the last digit shown.
constexpr double kSlack = 1 + 0x1p-30;

std::vector<double> numbers(const Bounded& bounded) {
  if (bounded.error.empty()) return std::vector<double>(static_cast<std::size_t>(bounded.value.size()), 0.0);
  std::vector<double> out = to_doubles(bounded.error);
  for (double& limit : out) limit *= kSlack;
  return out;
}

}  // namespace

LimitsOfRecipe::LimitsOfRecipe(Recipe claims, DocumentedBounds device, const Case& problem, const Stages& inputs)
    : claims_(std::move(claims)), device_(std::move(device)), problem_(problem), inputs_(inputs) {}

// Earlier stages with the errors of their own recipe, or (local) as they were observed.
LimitsOfRecipe::ByStage LimitsOfRecipe::walk(const Stages* observed) const {
  ByStage out;
  BoundedValues known;
  for (const auto& [name, tensor] : inputs_) known[name] = exactly(tensor);
  std::string refused;
  for (const StageSteps& steps : claims_.stages) {
    try {
      out[steps.stage].limits = numbers(bound_stage(steps, known, device_, problem_));
    } catch (const Refused& e) {
      refused = e.what();
      known.erase(steps.stage);
    } catch (const std::runtime_error& e) {  // of LibTorch: the analysis has no operand that was refused before
      refused = refused.empty() ? e.what() : refused;
    }
    if (out[steps.stage].limits.empty()) out[steps.stage].refused = refused;
    if (!observed) continue;
    if (const auto seen = observed->find(steps.stage); seen != observed->end() && !seen->second.empty())
      known[steps.stage] = exactly(seen->second);
  }
  return out;
}

const std::vector<double>& LimitsOfRecipe::limits_in(const ByStage& stages, const std::string& stage,
                                                     const Recipe& claims) {
  const auto found = stages.find(stage);
  if (found == stages.end()) throw Refused("the recipe " + claims.name + " has no stage " + stage);
  if (!found->second.refused.empty()) throw Refused(found->second.refused);
  return found->second.limits;
}

WholeLimits LimitsOfRecipe::of(const std::string& stage, const Stages& observed, bool only_moves) {
  if (!total_) total_ = walk(nullptr);
  if (!local_ && !only_moves && !observed.empty()) local_ = walk(&observed);
  WholeLimits out;
  out.total = limits_in(*total_, stage, claims_);
  if (only_moves)
    out.local.assign(out.total.size(), 0);
  else
    out.local = observed.empty() ? out.total : limits_in(*local_, stage, claims_);
  out.formula = only_moves ? "0: elements are moved, nothing is computed"
                           : "roundings of every step carried through the numbers of the case; sums of n products "
                             "n u / (1 - n u) sum |x||y|, in any order";
  out.source = "steps of " + claims_.name + " (running error analysis, Higham 2002, 3.1 and 3.3)";
  return out;
}

}  // namespace ropewalk
