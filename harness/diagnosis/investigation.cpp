#include "harness/diagnosis/investigation.hpp"

#include <algorithm>

#include "harness/recipes/recipe.hpp"

namespace ropewalk {
namespace {

Verdict verdict_of(const Investigation& found) {
  bool failed = !found.dump.defects.empty(), trusted = false;
  for (const Result& result : found.judgement.results) {
    failed = failed || result.verdict == Verdict::fail;
    trusted = trusted || (result.relation == Relation::accuracy && result.verdict == Verdict::pass);
  }
  return failed ? Verdict::fail : trusted ? Verdict::pass : Verdict::untrusted;
}

// The stage at which what gives these bits leaves the limits of the claim: it knows the stages that the dump lacks.
std::string stage_of(const Match& match, const Investigation& found) {
  Case problem = found.dump.problem;
  Positions& positions = problem.positions;
  std::vector<std::int64_t> some;
  for (const std::int64_t row : telling_rows(positions)) some.push_back(positions.at(row));
  positions = {0, some};
  return judge(problem, stages_of(match, found.dump.problem, some), budget_for(found.claims, problem), false)
      .first_stage;
}

void find_first_stage(Investigation& found) {
  found.first_stage = found.judgement.first_stage;
  if (found.verdict != Verdict::fail) return;
  if (!found.first_stage.empty()) found.how_known = "the first stage of the file whose own error exceeds its limit";
  const auto& identical = found.identification.identical;
  if (identical.empty()) return;
  const std::string stage = stage_of(identical.front(), found);
  const auto place = [](const std::string& name) {
    return std::find(kPipeline.begin(), kPipeline.end(), name) - kPipeline.begin();
  };
  if (stage.empty() || (!found.first_stage.empty() && place(stage) >= place(found.first_stage))) return;
  found.first_stage = stage;
  found.how_known = "where the recipe that gives these bits leaves the limits";
}

}  // namespace

Investigation investigate(Dump dump, const std::string& claims) {
  Investigation found;
  found.dump = std::move(dump);
  found.claims = claims;
  const Case& problem = found.dump.problem;
  found.judgement = judge(problem, found.dump.stages, budget_for(claims, problem), found.dump.positions_are_truth);
  found.identification = identify(problem, found.dump.stages);
  found.verdict = verdict_of(found);
  find_first_stage(found);
  return found;
}

}  // namespace ropewalk
