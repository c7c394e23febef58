#include "harness/checks/documented.hpp"

#include <algorithm>
#include <cmath>

#include "harness/recipes/fast_bounds.hpp"
#include "harness/recipes/roundings.hpp"
#include "reference/frequencies.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Op> approximation_in(const Recipe& recipe, const std::string& stage) {
  const StageSteps* steps = recipe.stage(stage);
  if (!steps || (stage != "cos" && stage != "sin")) return {};
  for (const Step& step : steps->steps)
    if (is_fast(step.op)) return step.op;
  return {};
}

bool reduces(const Recipe& recipe) {
  const StageSteps* steps = recipe.stage("cos");
  return std::any_of(steps->steps.begin(), steps->steps.end(),
                     [](const Step& step) { return step.op == Op::less_turns || step.op == Op::less_turns_fma; });
}

struct Band {
  std::int64_t first = 0, last = 0, unbounded = 0, bounded = 0;
  double largest = 0;
};

}  // namespace

std::optional<Json> bounded_by_documents(const Recipe& claims, const std::string& stage, const DocumentedBounds& device,
                                         const Case& problem) {
  const auto op = approximation_in(claims, stage);
  if (!op) return {};
  const bool reduced = reduces(claims);
  Case budgeted = problem;
  if (!reduced) budgeted.positions = {2, {}};  // what the angle may be off by does not depend on the positions
  const Budget budget = count_roundings(claims, device, budgeted);
  const auto exact = reference::Frequencies::powers(problem.rope.base, static_cast<int>(problem.rope.rotary_dim()));

  std::vector<Band> bands;
  for (std::int64_t row = 0; row < problem.positions.count(); ++row) {
    const std::int64_t position = problem.positions.at(row);
    if (bands.empty() || position >= 2 * std::max<std::int64_t>(bands.back().first, 1) || bands.back().first == 0)
      bands.push_back({position, position});
    Band& band = bands.back();
    band.last = position;
    for (int j = 0; j < exact.size(); ++j) {
      const double angle = static_cast<double>(position) * std::fabs(exact.head(j));
      const double angle_error = angle * compose(budget.inv_freq_relative[static_cast<std::size_t>(j)],
                                                 budget.angle_relative[static_cast<std::size_t>(j)]);
      const auto of_function = reduced ? std::optional((stage == "cos" ? budget.cos : budget.sin).absolute)
                                       : documented_error(*op, angle + angle_error);
      if (!of_function) {
        ++band.unbounded;
        continue;
      }
      ++band.bounded;
      band.largest = std::max(band.largest, *of_function + angle_error);
    }
  }
  Json by_position = Json::array();
  std::int64_t bounded = 0, unbounded = 0;
  for (const Band& band : bands) {
    bounded += band.bounded;
    unbounded += band.unbounded;
    by_position.push_back({{"first", band.first},
                           {"last", band.last},
                           {"max_abs", band.bounded == 0 ? Json() : Json(band.largest)},
                           {"elements_without_a_bound", band.unbounded}});
  }
  return Json{{"what", "bounded by documentation, not run"},
              {"elements", bounded + unbounded},
              {"elements_without_a_bound", unbounded},
              {"by_position", std::move(by_position)},
              {"formula", "documented error of the approximation at |angle|, and what the angle itself may be off by"},
              {"source", kFastSource}};
}

}  // namespace ropewalk
