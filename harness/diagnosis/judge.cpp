#include "harness/diagnosis/judge.hpp"

#include <algorithm>
#include <list>

#include "harness/checks/accuracy.hpp"
#include "harness/checks/claims.hpp"
#include "harness/checks/invariants.hpp"
#include "harness/subjects/table_stages.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kBlockElements = 32768;  // rows * pairs at a time, so that the exact values need little memory

Result blank(const Case& problem, Relation relation, const std::string& stage) {
  Result result;
  result.relation = relation;
  result.suite = "check";
  result.stage = stage;
  result.dtype = problem.dtype;
  return result;
}

}  // namespace

Budget budget_for(const std::string& claims, const Case& problem) {
  return count_roundings(find_recipe(claims), widest_bounds(), problem);
}

Judgement judge(const Case& problem, const Stages& stages, const Budget& budget, bool positions_are_truth) {
  struct Checks {
    std::string stage;
    AccuracyCheck accuracy;
    InvariantsCheck invariants;
  };
  std::list<Checks> checks;
  for (const std::string& stage : kPipeline)
    if (stages.contains(stage) && !(stage == "positions" && positions_are_truth))
      checks.push_back({stage, {stage, budget, std::nullopt}, {stage, budget}});

  Truth truth(problem.rope, problem.positions);
  const std::int64_t rows = problem.positions.count();
  const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / (problem.rope.rotary_dim() / 2));
  for (std::int64_t first = 0; first < rows; first += step) {
    const std::int64_t count = std::min(step, rows - first);
    truth.start_block(first, count);
    const Stages block = block_of(stages, first, count);
    for (Checks& check : checks) {
      check.accuracy.add(block, truth, first == 0);
      if (check.stage != "positions") check.invariants.add(block, truth, first == 0);
    }
  }

  Judgement out;
  for (const Checks& check : checks) {
    Result& result = out.results.emplace_back(blank(problem, Relation::accuracy, check.stage));
    check.accuracy.conclude(result);
    if (out.first_stage.empty() && check.accuracy.local_failed()) out.first_stage = check.stage;
  }
  for (Result& result : out.results) result.first_stage = out.first_stage;
  for (const Checks& check : checks) {
    if (check.stage == "positions") continue;
    check.invariants.conclude(out.results.emplace_back(blank(problem, Relation::invariants, check.stage)));
  }
  out.proof = truth.proof();
  return out;
}

}  // namespace ropewalk
