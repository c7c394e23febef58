#include <algorithm>
#include <cmath>

#include "harness/checks/limits.hpp"
#include "harness/checks/truth.hpp"
#include "harness/checks/whole_truth.hpp"
#include "harness/recipes/roundings.hpp"

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

// The exact table with what the claimed recipe's table may be off by.
BoundedValues LimitsOfRecipe::table() const {
  const Budget budget = count_roundings(claims_, device_, problem_);
  Truth truth(problem_.rope, problem_.positions);
  truth.start_block(0, problem_.positions.count());
  const reference::SinCos& exact = truth.of_exact();
  const auto& frequencies = truth.frequencies();
  const auto pairs = static_cast<std::size_t>(frequencies.size());
  const Shape shape{problem_.positions.count(), frequencies.size()};
  BoundedValues out;
  for (const bool sine : {true, false}) {
    const std::vector<double>& values = sine ? exact.sin : exact.cos;
    std::vector<double> limits(values.size());
    const TrigBudget& trig = sine ? budget.sin : budget.cos;
    trig_limits(trig, values, limits);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const auto j = static_cast<int>(i % pairs);
      const double of_inputs = compose(budget.positions_relative, budget.inv_freq_relative[i % pairs]);
      limits[i] += truth.amplitude().head() * truth.positions_of_pairs(i / pairs)[i % pairs] *
                   std::fabs(frequencies.head(j)) * compose(of_inputs, budget.angle_relative[i % pairs]);
    }
    // The dtype is that of the table as it is delivered: its last rounding.
    const reference::Format format = trig.roundings.empty() ? trig.function_format : trig.roundings.back();
    const DType dtype = format == reference::Format::float64    ? DType::float64
                        : format == reference::Format::bfloat16 ? DType::bfloat16
                        : format == reference::Format::float16  ? DType::float16
                                                                : DType::float32;
    out[sine ? "sin" : "cos"] = {from_doubles(DType::float64, shape, values),
                                 from_doubles(DType::float64, shape, limits), dtype};
  }
  return out;
}

LimitsOfRecipe::Stage LimitsOfRecipe::bounded(const StageSteps& steps, BoundedValues& known, double lambda) const {
  try {
    const Bounded result = bound_stage(steps, known, device_, problem_, lambda);
    return {numbers(result), {}, result.dtype};
  } catch (const std::runtime_error& e) {  // Refused, or an operand that an earlier stage was refused for
    known.erase(steps.stage);
    return {{}, e.what(), {}};
  }
}

// Earlier stages with the errors of their own recipe, or (local) as they were observed.
LimitsOfRecipe::ByStage LimitsOfRecipe::walk(const Stages* observed, double lambda) {
  ByStage out;
  BoundedValues known;
  for (const auto& [name, tensor] : inputs_) known[name] = exactly(tensor);
  const bool with_table = problem_.kind() == Kind::attention;
  if (with_table && !table_) table_ = table();
  if (with_table) known.insert(table_->begin(), table_->end());
  const auto table_stages = stages_of(Kind::table);
  for (const StageSteps& steps : claims_.stages) {
    const bool of_table =
        with_table && std::find(table_stages.begin(), table_stages.end(), steps.stage) != table_stages.end();
    if (!of_table) out[steps.stage] = bounded(steps, known, lambda);
    if (!observed) continue;
    if (const auto seen = observed->find(steps.stage); seen != observed->end() && !seen->second.empty())
      known[steps.stage] = exactly(seen->second);
  }
  return out;
}

const LimitsOfRecipe::Stage& LimitsOfRecipe::limits_in(const ByStage& stages, const std::string& stage,
                                                       const Recipe& claims) {
  const auto found = stages.find(stage);
  if (found == stages.end()) throw Refused("the recipe " + claims.name + " has no stage " + stage);
  if (!found->second.refused.empty()) throw Refused(found->second.refused);
  return found->second;
}

WholeLimits LimitsOfRecipe::of(const std::string& stage, const Stages& observed, bool only_moves) {
  if (!total_) total_ = walk(nullptr);
  if (!local_ && !only_moves && !observed.empty()) local_ = walk(&observed);
  WholeLimits out;
  const Stage& claimed = limits_in(*total_, stage, claims_);
  out.total = claimed.limits;
  out.dtype = claimed.dtype;
  if (only_moves)
    out.local.assign(out.total.size(), 0);
  else
    out.local = observed.empty() ? out.total : limits_in(*local_, stage, claims_).limits;
  if (problem_.kind() == Kind::attention && !observed.empty()) {
    if (!probable_) probable_ = walk(&observed, kLambda);
    out.probable = limits_in(*probable_, stage, claims_).limits;
  }
  out.formula = only_moves ? "0: elements are moved, nothing is computed"
                           : "roundings of every step carried through the numbers of the case; sums of n products "
                             "n u / (1 - n u) sum |x||y|, in any order";
  out.source = "steps of " + claims_.name + " (running error analysis, Higham 2002, 3.1 and 3.3)";
  return out;
}

}  // namespace ropewalk
