#include "harness/diagnosis/counted.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/checks/claims.hpp"
#include "harness/diagnosis/judge.hpp"
#include "tests/harness/diagnosis/dumps.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;
using testing::Not;

Budget counted(const std::string& recipe, const Case& problem, std::vector<CountedStep>& steps) {
  return count_roundings(find_recipe(recipe), widest_bounds(), problem, &steps);
}

// What the steps leave at the end of a stage is what the limits are made of.
TEST(Counted, TheStepsEndWhereTheBudgetStands) {
  std::vector<CountedStep> steps;
  const Budget budget = counted("hf-llama-4.37", dumped_problem(DType::bfloat16), steps);
  std::map<std::string, CountedStep> last;
  for (const CountedStep& step : steps) last[step.stage] = step;
  EXPECT_EQ(last["inv_freq"].relative, budget.inv_freq_relative);
  EXPECT_EQ(last["angle"].relative.back(), budget.angle_relative.back());
  EXPECT_EQ(last["sin"].trig->roundings, budget.sin.roundings);
  EXPECT_EQ(budget.sin.roundings.size(), 1U) << "one rounding to bfloat16";
}

TEST(Counted, EveryStepUpToTheStageAndNoOther) {
  std::vector<CountedStep> steps;
  const Budget budget = counted("hf-llama-4.37", dumped_problem(DType::bfloat16), steps);
  const std::string sine = steps_text(budget, steps, "sin", 3);
  EXPECT_THAT(sine, HasSubstr("power(dynamic_base, previous)"));
  EXPECT_THAT(sine, HasSubstr("3.5 ulp of float32 + 1/2 ulp of bfloat16"));
  EXPECT_THAT(sine, Not(HasSubstr("cos(angle)")));
  EXPECT_THAT(steps_text(budget, steps, "inv_freq", 3), Not(HasSubstr("multiply")));
}

// Rows and columns have the same 20 frequencies, which are made once: pair 24 is the fifth of the columns.
TEST(Counted, AStepOfOneAxisIsThatOfTheOthersToo) {
  Case axial;
  axial.rope.head_dim = 80;
  axial.rope.axial = true;
  axial.positions.axes = {{3}, {5}};
  std::vector<CountedStep> steps;
  const Budget budget = counted(kPlainAxialClaim, axial, steps);
  EXPECT_EQ(steps_text(budget, steps, "cos", 24), steps_text(budget, steps, "cos", 4));
  EXPECT_NE(steps_text(budget, steps, "cos", 24), steps_text(budget, steps, "cos", 19));
}

// The terms add up to the limits of the result.
TEST(Counted, TheTermsAddUp) {
  const Case problem = dumped_problem();
  const Tensors all = made_by("hf-llama-5.24", problem);
  const Budget budget = budget_for(kPlainClaim, problem);
  for (const Tensors& stages : {all, only(all, {"cos", "sin"})})
    for (const Result& r : judge(problem, stages, budget, true).results) {
      if (r.relation != Relation::accuracy) continue;
      const LimitPlace at{r.stage, r.worst->position, static_cast<std::size_t>(r.worst->pair), r.local_limit->value,
                          r.total_limit->value};
      const std::string text = limit_text(budget, problem.rope, at);
      EXPECT_THAT(text, HasSubstr(fmt::format("{:.3g}", at.total))) << r.stage;
      const bool unseen = (r.stage == "cos" || r.stage == "sin") && !stages.contains("angle");
      EXPECT_EQ(text.find("not delivered") != std::string::npos, unseen) << text;
    }
}

}  // namespace
}  // namespace ropewalk
