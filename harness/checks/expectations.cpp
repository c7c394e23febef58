#include "harness/checks/expectations.hpp"

#include <algorithm>

namespace ropewalk {
namespace {

bool matches(const nlohmann::json& wanted, const nlohmann::json& actual) {
  return wanted == actual || (wanted.is_array() && std::find(wanted.begin(), wanted.end(), actual) != wanted.end());
}

bool matches_where(const nlohmann::json& where, const Result& result) {
  const auto any_subject = [&](const nlohmann::json& wanted, std::string SubjectInfo::*field) {
    return std::any_of(result.subjects.begin(), result.subjects.end(),
                       [&](const SubjectInfo& s) { return matches(wanted, s.*field); });
  };
  for (const auto& [key, wanted] : where.items()) {
    const bool met = key == "dtype"     ? matches(wanted, std::string(name_of(result.dtype)))
                     : key == "stage"   ? matches(wanted, result.stage)
                     : key == "subject" ? any_subject(wanted, &SubjectInfo::name)
                     : key == "device"  ? any_subject(wanted, &SubjectInfo::device)
                     : key == "recipe"
                         ? any_subject(wanted, &SubjectInfo::recipe)
                         : result.params.contains(key) && matches(wanted, nlohmann::json(result.params[key]));
    if (!met) return false;
  }
  return true;
}

bool allowed_skip(const Result& result, const CheckSpec& check) {
  return result.verdict == Verdict::skipped &&
         std::any_of(check.allow_skip.begin(), check.allow_skip.end(),
                     [&](const std::string& reason) { return result.reason.find(reason) != std::string::npos; });
}

}  // namespace

void settle(Result& result, const CheckSpec& check) {
  std::string first_stage;
  result.expected = Verdict::pass;
  for (const Expectation& expectation : check.expect) {
    if (!matches_where(expectation.where, result)) continue;
    result.expected = expectation.verdict;
    first_stage = expectation.first_stage;
    break;
  }
  result.unexpected = result.verdict != result.expected;
  if (!result.unexpected && !first_stage.empty() && result.first_stage != first_stage) {
    result.unexpected = true;
    const std::string seen = result.first_stage.empty() ? "at no stage that was looked at" : "at " + result.first_stage;
    result.reason = "it starts " + seen + ", expected at " + first_stage;
  }
  if (result.unexpected && allowed_skip(result, check)) {
    result.unexpected = false;
    result.expected = Verdict::skipped;
  }
}

void settle_any_fail(std::vector<Result*> results, const CheckSpec& check, bool whole) {
  const auto failed = [&](const Result* r) {
    return r->verdict == Verdict::fail && (check.any_first_stage.empty() || r->first_stage == check.any_first_stage);
  };
  const bool met = std::any_of(results.begin(), results.end(), failed);
  const bool all_skipped =
      std::all_of(results.begin(), results.end(), [&](const Result* r) { return allowed_skip(*r, check); });
  for (Result* result : results) {
    const bool plain = result->verdict == Verdict::pass || result->verdict == Verdict::untrusted;
    result->expected = Verdict::fail;
    const bool judged = result->verdict == Verdict::fail || plain;
    result->unexpected = judged ? whole && !met : !allowed_skip(*result, check);
    if (met && plain) result->expected = result->verdict;
    if (allowed_skip(*result, check)) result->expected = Verdict::skipped;
  }
  if (all_skipped || met || !whole || results.empty()) return;
  for (Result* result : results)
    if (result->unexpected && result->reason.empty())
      result->reason = check.any_first_stage.empty()
                           ? "no result of this check fails, one was expected to"
                           : "no result of this check fails first at " + check.any_first_stage;
}

}  // namespace ropewalk
