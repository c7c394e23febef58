#include "harness/diagnosis/investigation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/bad_input.hpp"
#include "harness/cases/fields.hpp"
#include "harness/diagnosis/rows.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {
namespace {

Verdict verdict_of(const Investigation& found) {
  bool failed = !found.dump.defects.empty() || !found.one_frequency.unexplained.empty(), trusted = false;
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
  const auto rows = telling_rows(positions);
  const auto some = positions_at(positions, rows, problem.rope.axes());
  positions = picked(positions, rows);
  return judge(problem, stages_of(match, found.dump.problem, some), budget_for(found.claims, problem), false)
      .first_stage;
}

bool before(const std::string& stage, const std::string& other) {
  const auto place = [](const std::string& name) {
    return std::find(kPipeline.begin(), kPipeline.end(), name) - kPipeline.begin();
  };
  return other.empty() || place(stage) < place(other);
}

// The file's own stages tell where it goes wrong, unless the stages before are not in it: then what explains the
// tables does.
void find_first_stage(Investigation& found) {
  found.first_stage = found.judgement.first_stage;
  if (found.verdict != Verdict::fail) return;
  const bool table = found.first_stage == "cos" || found.first_stage == "sin";
  if (!found.first_stage.empty())
    found.how_known = table && !found.dump.stages.contains("angle")
                          ? "the file has no angles, so that they may be off as well"
                          : "the first stage of the file whose own error exceeds its limit";
  const auto take = [&](const std::string& stage, const std::string& how) {
    if (stage.empty() || !before(stage, found.first_stage)) return;
    found.first_stage = stage;
    found.how_known = how;
  };
  if (!found.identification.identical.empty())
    take(stage_of(found.identification.identical.front(), found), "where what gives these bits leaves the limits");
  else if (!found.explained.empty())
    take(found.explained.front().hypothesis.stage, found.explained.front().hypothesis.text);
  if (found.first_stage.empty() && !found.one_frequency.unexplained.empty())
    take("angle", "no one frequency explains a pair: the angles, or the trigonometry");
}

// Nobody said the base: the file's own frequencies or tables do.
void fit_base(Investigation& found) {
  Dump& dump = found.dump;
  std::string how;
  if (dump.stages.contains("inv_freq")) {
    const auto frequencies = to_doubles(dump.stages.at("inv_freq"));
    for (const double base : plausible_bases(frequencies)) {
      Case changed = dump.problem;
      changed.rope.base = base;
      changed.positions = {0, {0, 1}};
      const Stages alone{{"inv_freq", dump.stages.at("inv_freq")}};
      if (!judge(changed, alone, budget_for(found.claims, changed), true).first_stage.empty()) continue;
      dump.problem.rope.base = base;
      how = "inv_freq";
      break;
    }
  } else {
    const auto fits = fitting_hypotheses(dump.problem, dump.stages, found.claims, false);
    if (!fits.empty()) dump.problem.rope.base = fits.front().hypothesis.base, how = "the table";
  }
  if (how.empty())
    throw BadInput(dump.file, "base", "", "not given, and none explains the tensors; --config or --base says it");
  dump.assumed.push_back(fmt::format("base {}: nobody said it, {} fits it", plain(dump.problem.rope.base), how));
}

// Changes that explain the table; where that is another base, what the table is at that base.
void explain(Investigation& found) {
  const Case& problem = found.dump.problem;
  found.explained = fitting_hypotheses(problem, found.dump.stages, found.claims, true);
  for (const Explained& explained : found.explained) {
    if (explained.hypothesis.kind != "base") continue;
    found.fitted_base = explained.hypothesis.base;
    Case changed = problem;
    changed.rope.base = *found.fitted_base;
    found.at_fitted_base = identify(changed, found.dump.stages);
  }
}

}  // namespace

Investigation investigate(Dump dump, const std::string& claims) {
  Investigation found;
  found.dump = std::move(dump);
  found.claims = claims;
  if (!found.dump.base_known) fit_base(found);
  const Case& problem = found.dump.problem;
  const Stages& stages = found.dump.stages;
  const Budget budget = budget_for(claims, problem);
  found.judgement = judge(problem, stages, budget, found.dump.positions_are_truth);
  found.identification = identify(problem, stages);
  const bool one_axis = problem.rope.axes() == 1;
  if (one_axis && !stages.contains("angle")) found.one_frequency = one_frequency(problem, stages, budget);
  found.verdict = verdict_of(found);
  if (one_axis && found.verdict == Verdict::fail && found.identification.identical.empty()) explain(found);
  find_first_stage(found);
  return found;
}

}  // namespace ropewalk
