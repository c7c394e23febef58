#include "harness/checks/whole_case.hpp"

#include <algorithm>
#include <map>

#include "harness/cases/inputs.hpp"
#include "harness/checks/accuracy.hpp"
#include "harness/checks/attention_causes.hpp"
#include "harness/checks/cost.hpp"
#include "harness/checks/lora_causes.hpp"
#include "harness/checks/lora_invariants.hpp"
#include "harness/checks/running.hpp"
#include "harness/checks/whole_accuracy.hpp"
#include "harness/subjects/table_stages.hpp"
#include "harness/subjects/variant.hpp"

namespace ropewalk {
namespace {

class WholeCaseRun {
 public:
  WholeCaseRun(const Case& problem, const std::vector<Planned>& planned, SubjectPool& pool)
      : problem_(problem),
        planned_(planned),
        pool_(pool),
        inputs_(make_inputs(problem)),
        truth_(problem.lora ? make_lora_truth(problem, inputs_) : make_attention_truth(problem, inputs_)) {}

  CaseOutcome run() {
    {
      const Stopwatch watch(outcome_.seconds_subjects);
      start_subjects();
    }
    {
      const Stopwatch watch(outcome_.seconds_checks);
      for (const Planned& planned : planned_) outcome_.results.push_back(result(planned));
    }
    outcome_.proof = truth_->proof();
    outcome_.seconds_checks -= outcome_.seconds_reference;
    for (auto& [index, running] : running_) pool_.give_back(*running.spec, problem_, std::move(running.subject));
    return std::move(outcome_);
  }

 private:
  void start_subjects() {
    for (const Planned& planned : planned_)
      for (const std::size_t s : planned.subjects) {
        if (running_.contains(s)) continue;
        Running& running = running_[s] = start(problem_.subjects[s], problem_, pool_);
        work_of_subject(running, [&] { wholes_[s] = running.subject->whole(problem_, inputs_); });
        if (running.broken) continue;
        const Presented* own = nullptr;
        if (const std::string& variant = running.spec->variant; has_own_limits(variant))
          own = &presented_.emplace(s, present(variant, problem_, inputs_).front()).first->second;
        claims_[s] = std::make_unique<LimitsOfRecipe>(find_recipe(running.info.claims), bounds_of(running.info),
                                                      own ? own->problem : problem_, own ? own->inputs : inputs_);
      }
  }

  Result result(const Planned& planned) {
    std::vector<SubjectInfo> infos;
    for (const std::size_t s : planned.subjects) infos.push_back(running_.at(s).info);
    Result out = blank_result(problem_, planned, std::move(infos));
    for (const std::size_t s : planned.subjects) {
      const Running& running = running_.at(s);
      if (running.broken) return ended(out, *running.broken, running.reason);
      const Whole& whole = wholes_.at(s);
      if (const auto failed = whole.failed.find(planned.stage); failed != whole.failed.end())
        return ended(out, Verdict::error, failed->second);
      if (!whole.stages.contains(planned.stage))
        return ended(out, Verdict::skipped, running.info.name + " does not deliver the stage " + planned.stage);
    }
    try {
      judge(planned, out);
    } catch (const SubjectError& e) {
      return ended(out, Verdict::error, e.what());
    } catch (const Refused& e) {
      return ended(out, Verdict::skipped, std::string("no limit: ") + e.what());
    }
    if (out.verdict == Verdict::pass && out.measured.compared == 0) untrusted(out, "nothing was compared");
    return out;
  }

  static Result ended(Result& result, Verdict verdict, const std::string& reason) {
    result.verdict = verdict;
    result.reason = reason;
    return std::move(result);
  }

  void judge(const Planned& planned, Result& out) {
    const CheckSpec& check = problem_.checks[planned.check];
    const std::size_t s = planned.subjects[0];
    if (check.relation == Relation::accuracy && of_table(planned.stage)) {
      judge_table(s, planned.stage, check, out);
    } else if (check.relation == Relation::accuracy) {
      judge_accuracy(looked_at(s, planned.stage), problem_.dtype, check.limit, out);
      if (out.verdict == Verdict::fail) out.first_stage = first_failing(s);
      if (out.verdict == Verdict::fail && out.reason.empty() && problem_.lora)
        out.reason = explain_lora(planned.stage, looked_at(s, planned.stage), *problem_.lora);
      if (out.verdict == Verdict::fail && out.reason.empty() && problem_.attention) {
        const std::string& stage = out.first_stage.empty() ? planned.stage : out.first_stage;
        if (!of_table(stage))
          out.reason = explain_attention({stage, problem_, inputs_, usable(s), truth_->total(stage)}, out.details);
      }
      distrust_fault(running_.at(s), out);
    } else if (check.relation == Relation::invariants) {
      if (!problem_.lora) throw Refused("invariants of attention are not judged by this version");
      std::vector<double> limits;
      if (planned.stage == "lora_merged") limits = claims_.at(s)->of(planned.stage, {}, false).total;
      judge_lora_invariants(problem_, wholes_.at(s), again(s), inputs_, truth_->total(planned.stage), limits,
                            truth_->total("output"), out);
    } else {
      compare(planned, check, out);
    }
  }

  bool of_table(const std::string& stage) const {
    const auto table = stages_of(Kind::table);
    return problem_.attention && std::find(table.begin(), table.end(), stage) != table.end();
  }

  // A table inside attention is a table: one block of all its rows.
  AccuracyCheck table_check(std::size_t s, const std::string& stage, const std::optional<UserLimit>& limit) {
    const Running& running = running_.at(s);
    if (running.budgets.empty()) throw Refused(running.no_budget);
    AccuracyCheck table(stage, running.budgets.front(), limit);
    table.add(wholes_.at(s).stages, table_truth(), true);
    return table;
  }

  void judge_table(std::size_t s, const std::string& stage, const CheckSpec& check, Result& out) {
    const AccuracyCheck table = table_check(s, stage, check.limit);
    table.conclude(out);
    if (out.verdict == Verdict::fail && table.local_failed()) out.first_stage = first_failing(s);
    distrust_fault(running_.at(s), out);
  }

  Truth& table_truth() {
    if (!table_truth_) {
      table_truth_.emplace(problem_.rope, problem_.positions);
      table_truth_->start_block(0, problem_.positions.count());
    }
    return *table_truth_;
  }

  void compare(const Planned& planned, const CheckSpec& check, Result& out) {
    const std::size_t a = planned.subjects[0], b = planned.subjects[1];
    std::vector<WholeLimits> limits;
    if (check.relation == Relation::equivalence)
      for (const std::size_t s : planned.subjects) limits.push_back(claims_.at(s)->of(planned.stage, {}, false));
    const Tensor &x = wholes_.at(a).stages.at(planned.stage), &y = wholes_.at(b).stages.at(planned.stage);
    judge_two(x, y, of_table(planned.stage) ? StageTruth{} : truth_->total(planned.stage), limits, out);
    if (a == b && out.verdict == Verdict::pass) untrusted(out, "a subject is compared with itself");
    if (out.verdict == Verdict::fail) out.first_stage = first_difference(a, b);
    if (check.cost) {
      const Stopwatch watch(outcome_.seconds_subjects);
      const auto cost = [&](const std::vector<std::string>& stages) {
        return compare_cost(stages, *running_.at(a).subject, wholes_.at(a), *running_.at(b).subject, wholes_.at(b));
      };
      out.details["cost"] = cost({planned.stage});
      if (planned.stage == "rotated_k") out.details["cost_with_q"] = cost({"rotated_q", "rotated_k"});
    }
  }

  const LookedAt& looked_at(std::size_t s, const std::string& stage) {
    auto [entry, is_new] = looked_at_.try_emplace({s, stage});
    LookedAt& looked = entry->second;
    if (!is_new) return looked;
    try {
      looked.tensor = wholes_.at(s).stages.at(stage);
      const Stopwatch watch(outcome_.seconds_reference);
      looked.total = &truth_->total(stage);
      const Stages& observed = usable(s);
      looked.local = truth_->local(stage, observed);
      looked.limits = claims_.at(s)->of(stage, observed, truth_->only_moves(stage, observed));
    } catch (...) {
      looked_at_.erase(entry);
      throw;
    }
    return looked;
  }

  // Only what the reference can start from: tensors of the right shape.
  const Stages& usable(std::size_t s) {
    const auto [entry, is_new] = usable_.try_emplace(s);
    if (!is_new) return entry->second;
    for (const auto& [name, tensor] : wholes_.at(s).stages) {
      if (looks_at(name) && !tensor.empty() && (of_table(name) || tensor.shape() == truth_->total(name).shape))
        entry->second[name] = tensor;
    }
    return entry->second;
  }

  // Gradients that nobody asks for may be those of something else (Attention::backward).
  bool looks_at(const std::string& stage) const {
    return !stage.starts_with("grad_") || std::any_of(planned_.begin(), planned_.end(),
                                                      [&](const Planned& planned) { return planned.stage == stage; });
  }

  std::string first_failing(std::size_t s) {
    for (const std::string_view name : stages_of(problem_.kind())) {
      const std::string stage(name);
      if (wholes_.at(s).failed.contains(stage)) return stage;
      if (!wholes_.at(s).stages.contains(stage) || !looks_at(stage)) continue;
      try {
        if (of_table(stage) ? table_check(s, stage, std::nullopt).local_failed() : local_failed(looked_at(s, stage)))
          return stage;
      } catch (const Refused&) {
        continue;  // no limit for this one
      }
    }
    return {};
  }

  std::string first_difference(std::size_t a, std::size_t b) const {
    for (const std::string_view name : stages_of(problem_.kind())) {
      const auto x = wholes_.at(a).stages.find(std::string(name)), y = wholes_.at(b).stages.find(std::string(name));
      if (x == wholes_.at(a).stages.end() || y == wholes_.at(b).stages.end()) continue;
      if (x->second.empty() != y->second.empty()) return x->first;
      if (!x->second.empty() && !same_bits(x->second, y->second)) return x->first;
    }
    return {};
  }

  const Whole& again(std::size_t s) {
    const auto [entry, is_new] = again_.try_emplace(s);
    if (is_new) entry->second = running_.at(s).subject->whole(problem_, inputs_);
    return entry->second;
  }

  const Case& problem_;
  const std::vector<Planned>& planned_;
  SubjectPool& pool_;
  Stages inputs_;
  std::unique_ptr<WholeTruth> truth_;
  std::optional<Truth> table_truth_;  // of the table inside attention
  CaseOutcome outcome_;
  std::map<std::size_t, Running> running_;
  std::map<std::size_t, Whole> wholes_, again_;
  std::map<std::size_t, Stages> usable_;
  std::map<std::size_t, Presented> presented_;  // of subjects whose limits are those of another problem
  std::map<std::size_t, std::unique_ptr<LimitsOfRecipe>> claims_;
  std::map<std::pair<std::size_t, std::string>, LookedAt> looked_at_;
};

}  // namespace

CaseOutcome run_whole_case(const Case& problem, const std::vector<Planned>& planned, SubjectPool& pool) {
  return WholeCaseRun(problem, planned, pool).run();
}

}  // namespace ropewalk
