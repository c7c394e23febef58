// A subject at work on one case, and what became of it; shared by the runs of tables and of whole problems.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "harness/checks/run_case.hpp"
#include "harness/recipes/roundings.hpp"

namespace ropewalk {

// A subject at work on this case, and what became of it.
struct Running {
  const SubjectSpec* spec = nullptr;
  std::unique_ptr<Subject> subject;
  SubjectInfo info;
  std::vector<Budget> budgets;  // of a table: of each of its calls, one without a state; empty if there is none
  std::string no_budget;        // why
  std::vector<std::string> fault_stages;  // of a known fault: the stages that it changes
  std::string wakes;
  std::optional<Verdict> broken;  // skipped or error
  std::string reason;
  Stages stages;  // of the block at hand
};

void give_up(Running& running, Verdict verdict, const std::string& reason);

template <class F>
void guarded(Running& running, F work) {
  if (running.broken) return;
  try {
    work();
  } catch (const SubjectUnsupported& e) {
    give_up(running, Verdict::skipped, e.what());
  } catch (const SubjectError& e) {
    give_up(running, Verdict::error, e.what());
  } catch (const Refused& e) {
    give_up(running, Verdict::skipped, e.what());
  } catch (const std::bad_alloc&) {
    give_up(running, Verdict::error, "out of memory");
  } catch (const std::exception& e) {
    give_up(running, Verdict::error, e.what());
  }
}

// The same, and what the subject could not do is said of its device.
template <class F>
void work_of_subject(Running& running, F work) {
  if (running.broken) return;
  guarded(running, work);
  if (running.broken == Verdict::skipped && !running.spec->device.empty())
    running.reason = "device " + running.spec->device + ": " + running.reason;
}

// Takes it from the pool and prepares it. Limits of tables: of the recipe that it claims, on its device.
Running start(const SubjectSpec& spec, const Case& problem, SubjectPool& pool);
DocumentedBounds bounds_of(const SubjectInfo& info);  // of what computes; of an unknown make: the widest

Result blank_result(const Case& problem, const Planned& planned, std::vector<SubjectInfo> subjects);

// A pass that could not have been anything else is none: what holds for every kind of problem.
void untrusted(Result& result, const std::string& why);
void distrust_fault(const Running& running, Result& result);

}  // namespace ropewalk
