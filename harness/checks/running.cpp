#include "harness/checks/running.hpp"

#include <algorithm>

#include "harness/cases/state.hpp"
#include "harness/checks/claims.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {
namespace {

// What a subject claims that does not say it. Sections of M-RoPE round as one axis does.
std::string plain_claim(const Case& problem) {
  if (problem.kind() == Kind::lora) return "litgpt-0.3.1-lora";
  if (problem.kind() == Kind::attention) return "torchtune-0.3.1-rotation";
  return problem.rope.axial ? kPlainAxialClaim : kPlainClaim;
}

}  // namespace

DocumentedBounds bounds_of(const SubjectInfo& info) {
  return info.device.empty() ? widest_bounds() : make_device(info.device)->bounds();
}

void give_up(Running& running, Verdict verdict, const std::string& reason) {
  running.broken = verdict;
  running.reason = reason;
}

Running start(const SubjectSpec& spec, const Case& problem, SubjectPool& pool) {
  Running running;
  running.spec = &spec;
  running.subject = pool.take(spec, problem);
  running.info = running.subject->info();
  const bool at_once = spec.variant == kRecomputed;
  Case recomputed_case;
  if (at_once) {
    recomputed_case = problem;
    recomputed_case.state = recomputed(*problem.state);
  }
  work_of_subject(running, [&] { running.subject->prepare(at_once ? recomputed_case : problem); });
  running.info = running.subject->info();  // a recording knows its recipe only now
  if (at_once) running.info.variant = spec.variant;
  if (!running.info.recipe.empty()) {
    const Recipe recipe = find_recipe(running.info.recipe);
    if (recipe.is_fault() && spec.claims.empty()) running.info.claims = recipe.parent;
    if (recipe.is_fault() && running.info.claims != recipe.name) running.fault_stages = recipe.changed;
    running.wakes = recipe.wakes;
  }
  if (running.info.claims.empty()) running.info.claims = plain_claim(problem);
  try {
    if (!running.broken && problem.kind() != Kind::lora) {
      const Recipe claims = find_recipe(running.info.claims);
      const DocumentedBounds bounds = bounds_of(running.info);
      for (const Case& call : calls_of(problem)) running.budgets.push_back(count_roundings(claims, bounds, call));
    }
  } catch (const Refused& e) {
    running.budgets.clear();
    running.no_budget = e.what();
  }
  return running;
}

Result blank_result(const Case& problem, const Planned& planned, std::vector<SubjectInfo> subjects) {
  Result result;
  result.id = planned.id;
  result.relation = problem.checks[planned.check].relation;
  result.suite = problem.suite;
  result.case_name = problem.name;
  result.stage = planned.stage;
  result.dtype = problem.dtype;
  result.params = problem.params;
  result.subjects = std::move(subjects);
  return result;
}

void untrusted(Result& result, const std::string& why) {
  result.verdict = Verdict::untrusted;
  result.reason = why;
}

void distrust_fault(const Running& running, Result& result) {
  const auto& changed = running.fault_stages;
  if (result.verdict == Verdict::pass && std::find(changed.begin(), changed.end(), result.stage) != changed.end())
    untrusted(result, "a known fault that does not show at these inputs; what wakes it: " + running.wakes);
}

}  // namespace ropewalk
