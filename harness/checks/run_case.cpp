#include "harness/checks/run_case.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "harness/cases/state.hpp"
#include "harness/checks/accuracy.hpp"
#include "harness/checks/again.hpp"
#include "harness/checks/documented.hpp"
#include "harness/checks/identity.hpp"
#include "harness/checks/invariants.hpp"
#include "harness/checks/running.hpp"
#include "harness/checks/whole_case.hpp"
#include "harness/subjects/process.hpp"

namespace ropewalk {
namespace {

constexpr std::int64_t kBlockElements = 32768;  // rows * pairs: the block's arrays stay in the second-level cache
const std::vector<std::string> kPipeline{"inv_freq", "positions", "angle", "cos", "sin"};

using Check = std::variant<std::monostate, AccuracyCheck, IdentityCheck, InvariantsCheck>;

class CaseRun {
 public:
  CaseRun(const Case& problem, const std::vector<Planned>& planned, SubjectPool& pool)
      : problem_(problem),
        calls_(calls_of(problem)),
        planned_(planned),
        pool_(pool),
        truth_(calls_[0].rope, calls_[0].positions) {}

  CaseOutcome run(const std::atomic<bool>& stop) {
    {
      const Stopwatch watch(outcome_.seconds_subjects);
      start_subjects();
    }
    make_checks();
    const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / (problem_.rope.rotary_dim() / 2));
    for (std::size_t call = 0; call < calls_.size(); ++call) {
      if (call > 0) next_call(call);
      const std::int64_t rows = calls_[call].positions.count();
      for (std::int64_t first = 0; first < rows; first += step) {
        if (stop) {
          outcome_.finished = false;
          return std::move(outcome_);
        }
        block(first, std::min(step, rows - first));
      }
    }
    compute_again();
    conclude();
    outcome_.proof = truth_.proof();
    outcome_.seconds_reference = truth_.seconds();
    outcome_.seconds_checks -= truth_.seconds();
    for (auto& running : running_)
      if (running.subject) pool_.give_back(*running.spec, problem_, std::move(running.subject));
    return std::move(outcome_);
  }

 private:
  void start_subjects() {
    running_.resize(problem_.subjects.size());
    for (const Planned& planned : planned_)
      for (const std::size_t s : planned.subjects)
        if (!running_[s].subject) running_[s] = start(problem_.subjects[s], problem_, pool_);
  }

  bool usable(const Planned& planned) const {
    return std::none_of(planned.subjects.begin(), planned.subjects.end(),
                        [&](std::size_t s) { return running_[s].broken.has_value(); });
  }

  void make_checks() {
    // Identity and first stages look at the whole pipeline, whatever stages the case asks for.
    for (const Planned& planned : planned_) {
      const CheckSpec& spec = problem_.checks[planned.check];
      Check& check = checks_.emplace_back();
      skipped_.emplace_back();
      if (!usable(planned)) continue;
      const Running& running = running_[planned.subjects[0]];
      if (spec.relation != Relation::identity && running.budgets.empty()) {
        skipped_.back() = "no limit: " + running.no_budget;
        continue;
      }
      if (spec.relation == Relation::identity) {
        check.emplace<IdentityCheck>(planned.stage);
        continue;
      }
      const Budget& budget = running.budgets.front();
      if (spec.relation == Relation::accuracy) {
        check.emplace<AccuracyCheck>(planned.stage, budget, spec.limit);
        for (const std::string& stage : kPipeline)
          pipeline_.try_emplace({planned.subjects[0], stage}, stage, budget, std::nullopt);
      } else {
        check.emplace<InvariantsCheck>(planned.stage, budget);
      }
    }
  }

  // Of a state: what is right, and the limits, are those of the call's own length.
  void next_call(std::size_t call) {
    truth_.start_call(calls_[call].rope, calls_[call].positions);
    const auto judge = [&](auto* check, std::size_t subject) {
      if (check) check->judge_by(running_[subject].budgets[call]);
    };
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      judge(std::get_if<AccuracyCheck>(&checks_[i]), planned_[i].subjects[0]);
      judge(std::get_if<InvariantsCheck>(&checks_[i]), planned_[i].subjects[0]);
    }
    for (auto& [key, check] : pipeline_) judge(&check, key.first);
  }

  void block(std::int64_t first, std::int64_t count) {
    truth_.start_block(first, count);
    {
      const Stopwatch watch(outcome_.seconds_subjects);
      for (Running& running : running_)
        if (running.subject) guarded(running, [&] { running.stages = running.subject->rows(rows_done_, count); });
    }
    rows_done_ += count;
    const Stopwatch watch(outcome_.seconds_checks);
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      const Planned& planned = planned_[i];
      if (!usable(planned) || !delivered(planned, skipped_[i])) continue;
      Running& running = running_[planned.subjects[0]];
      guarded(running, [&] { add_block(planned, checks_[i], first == 0); });
    }
    first_stages(first == 0);
  }

  // A stage that a subject does not deliver costs it that result, and no other.
  bool delivered(const Planned& planned, std::string& reason) const {
    for (const std::size_t s : planned.subjects)
      if (reason.empty() && !running_[s].stages.contains(planned.stage))
        reason = running_[s].info.name + " does not deliver the stage " + planned.stage;
    return reason.empty();
  }

  void add_block(const Planned& planned, Check& check, bool first_block) {
    const Stages& stages = running_[planned.subjects[0]].stages;
    if (auto* accuracy = std::get_if<AccuracyCheck>(&check)) accuracy->add(stages, truth_, first_block);
    if (auto* invariants = std::get_if<InvariantsCheck>(&check)) invariants->add(stages, truth_, first_block);
    if (auto* identity = std::get_if<IdentityCheck>(&check))
      identity->add(stages, running_[planned.subjects[1]].stages, truth_, first_block);
  }

  // Stages that were not asked for are looked at only until one is known to differ: it is where to look.
  void first_stages(bool first_block) {
    for (const Planned& planned : planned_) {
      if (problem_.checks[planned.check].relation != Relation::identity || !usable(planned)) continue;
      const auto key = std::pair(planned.subjects[0], planned.subjects[1]);
      const Stages &a = running_[key.first].stages, &b = running_[key.second].stages;
      auto& earliest = first_difference_.try_emplace(key, kPipeline.size()).first->second;
      for (std::size_t s = 0; s < earliest; ++s) {
        const auto x = a.find(kPipeline[s]), y = b.find(kPipeline[s]);
        if (x != a.end() && y != b.end() && !same_bits(x->second, y->second)) earliest = s;
      }
    }
    for (auto& [key, check] : pipeline_) {
      Running& running = running_[key.first];
      if (running.broken || !running.stages.contains(key.second)) continue;
      if (asked_for(key)) continue;
      guarded(running, [&, &looked = check] { looked.add(running.stages, truth_, first_block); });
    }
  }

  bool asked_for(const std::pair<std::size_t, std::string>& key) const { return find_accuracy(key) != nullptr; }

  const AccuracyCheck* find_accuracy(const std::pair<std::size_t, std::string>& key) const {
    for (std::size_t i = 0; i < planned_.size(); ++i)
      if (planned_[i].subjects[0] == key.first && planned_[i].stage == key.second &&
          !problem_.checks[planned_[i].check].limit)  // a user's limit says nothing of where the error enters
        if (const auto* check = std::get_if<AccuracyCheck>(&checks_[i])) return check;
    return nullptr;
  }

  void compute_again() {
    const Stopwatch watch(outcome_.seconds_subjects);
    for (std::size_t s = 0; s < running_.size(); ++s) {
      std::vector<InvariantsCheck*> checks;
      for (std::size_t i = 0; i < planned_.size(); ++i)
        if (auto* check = std::get_if<InvariantsCheck>(&checks_[i]); check && planned_[i].subjects[0] == s)
          checks.push_back(check);
      if (checks.empty() || running_[s].spec->recipe.empty()) continue;
      guarded(running_[s], [&] {
        ropewalk::compute_again(*running_[s].subject, calls_[0].positions.count(), problem_.rope.rotary_dim() / 2,
                                checks);
      });
    }
  }

  void conclude() {
    const Stopwatch watch(outcome_.seconds_checks);
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      Result result = skeleton(planned_[i]);
      for (const std::size_t s : planned_[i].subjects)
        if (running_[s].broken && result.reason.empty()) {
          result.verdict = *running_[s].broken;
          result.reason = running_[s].reason;
        }
      if (result.reason.empty() && !skipped_[i].empty()) {
        result.verdict = Verdict::skipped;
        result.reason = skipped_[i];
      }
      if (result.reason.empty()) judge(planned_[i], checks_[i], result);
      if (result.verdict == Verdict::skipped) add_documented(planned_[i].subjects[0], result);
      outcome_.results.push_back(std::move(result));
    }
  }

  void judge(const Planned& planned, const Check& check, Result& result) {
    for (const std::size_t s : planned.subjects) result.measured.undetermined += running_[s].subject->undetermined();
    const auto undetermined = result.measured.undetermined;
    if (const auto* accuracy = std::get_if<AccuracyCheck>(&check)) {
      accuracy->conclude(result);
      result.first_stage = first_failing(planned.subjects[0]);
    } else if (const auto* identity = std::get_if<IdentityCheck>(&check)) {
      identity->conclude(result);
      const auto earliest = first_difference_.at({planned.subjects[0], planned.subjects[1]});
      if (result.verdict == Verdict::fail && earliest < kPipeline.size()) result.first_stage = kPipeline[earliest];
    } else if (const auto* invariants = std::get_if<InvariantsCheck>(&check)) {
      invariants->conclude(result);
    }
    result.measured.undetermined = undetermined;
    if (result.worst && problem_.state) {
      result.worst->call = static_cast<std::int64_t>(place_in(calls_, result.worst->row).first);
      result.worst->length = problem_.state->lengths[static_cast<std::size_t>(result.worst->call)];
    }
    distrust(planned, result);
  }

  void add_documented(std::size_t subject, Result& result) const {
    const SubjectInfo& info = running_[subject].info;
    if (problem_.rope.scaling.type != reference::Scaling::Type::none) return;  // kernels know no scaling
    if (auto bounds = bounded_by_documents(find_recipe(info.claims), result.stage, bounds_of(info), problem_))
      result.details["bounded"] = std::move(*bounds);
  }

  // A pass that could not have been anything else is none.
  void distrust(const Planned& planned, Result& result) const {
    if (result.verdict != Verdict::pass) return;
    if (result.measured.compared == 0) untrusted(result, "nothing was compared");
    if (result.measured.undetermined > 0)
      untrusted(result, "some results move when the hardware's approximate reciprocal moves by one ulp");
    if (result.relation == Relation::identity && result.subjects[0].name == result.subjects[1].name)
      untrusted(result, "a subject is compared with itself");
    if (result.relation != Relation::accuracy) return;
    const Running& running = running_[planned.subjects[0]];
    if (!running.spec->tensors.empty() && result.stage == "positions")
      untrusted(result, "the file's rows were chosen by these positions");
    distrust_fault(running, result);
  }

  std::string first_failing(std::size_t subject) const {
    for (const std::string& stage : kPipeline) {
      const std::pair key(subject, stage);
      const AccuracyCheck* check = find_accuracy(key);
      if (!check) {
        const auto found = pipeline_.find(key);
        check = found == pipeline_.end() ? nullptr : &found->second;
      }
      if (check && check->local_failed()) return stage;
    }
    return {};
  }

  Result skeleton(const Planned& planned) const {
    std::vector<SubjectInfo> infos;
    for (const std::size_t s : planned.subjects) infos.push_back(running_[s].info);
    return blank_result(problem_, planned, std::move(infos));
  }

  const Case& problem_;
  const std::vector<Case> calls_;  // of a state; else the case alone
  const std::vector<Planned>& planned_;
  SubjectPool& pool_;
  Truth truth_;
  CaseOutcome outcome_;
  std::vector<Running> running_;
  std::int64_t rows_done_ = 0;
  std::vector<Check> checks_;
  std::vector<std::string> skipped_;  // for each planned result: why it cannot be had though its subject works
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> first_difference_;
  std::map<std::pair<std::size_t, std::string>, AccuracyCheck> pipeline_;  // of accuracy subjects, for first_stage
};

}  // namespace

CaseOutcome run_case(const Case& problem, const std::vector<Planned>& planned, SubjectPool& pool,
                     const std::atomic<bool>& stop) {
  try {
    if (problem.kind() != Kind::table) return run_whole_case(problem, planned, pool);
    return CaseRun(problem, planned, pool).run(stop);
  } catch (const Stopped&) {
    CaseOutcome outcome;
    outcome.finished = false;
    return outcome;
  } catch (const std::exception& e) {  // of the reference, or no memory: the other cases go on
    CaseOutcome outcome;
    for (const Planned& p : planned) {
      std::vector<SubjectInfo> infos;
      for (const std::size_t s : p.subjects) {
        infos.emplace_back().name = problem.subjects[s].name;
        infos.back().recipe = problem.subjects[s].recipe;
        infos.back().device = problem.subjects[s].device;
      }
      outcome.results.push_back(blank_result(problem, p, std::move(infos)));
      outcome.results.back().verdict = Verdict::error;
      outcome.results.back().reason = e.what();
    }
    return outcome;
  }
}

}  // namespace ropewalk
