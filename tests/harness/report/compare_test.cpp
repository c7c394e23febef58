#include "harness/report/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/report/json.hpp"
#include "tests/harness/report/sample_reports.hpp"
#include "tests/support/approved.hpp"

namespace ropewalk {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

nlohmann::json as_json(const Report& report, bool all = true) {
  return nlohmann::json::parse(report_text(to_json(report, all)));
}

struct Pair {
  Report before, after;
  Pair() { before.results = after.results = {samples::every_kind().results[1]}; }  // a pass with margin 0.625
  Result& old_result() { return before.results[0]; }
  Result& new_result() { return after.results[0]; }
  Comparison compared(double growth = 0) const { return compare(as_json(before), as_json(after), growth); }
};

// "worse: what", "better: what" or "same".
std::string outcome(const Comparison& c) {
  if (c.worse.size() == 1) return "worse: " + c.worse[0].what;
  if (c.better.size() == 1) return "better: " + c.better[0].what;
  return c.same == 1 ? "same" : "something else";
}

TEST(Compare, TheSameReportTwiceIsTheSame) {
  const nlohmann::json report = as_json(samples::every_kind());
  const Comparison c = compare(report, report);
  EXPECT_THAT(c.better, IsEmpty());
  EXPECT_THAT(c.worse, IsEmpty());
  EXPECT_THAT(c.appeared, IsEmpty());
  EXPECT_THAT(c.vanished, IsEmpty());
  EXPECT_EQ(c.same, 11U);
  EXPECT_FALSE(c.new_complete);
}

TEST(Compare, WhatAShortReportLeavesOutHasNotVanished) {
  const Report report = samples::seed_grid();
  const Comparison c = compare(as_json(report, true), as_json(report, false));
  EXPECT_EQ(c.same, report.results.size());
  EXPECT_THAT(c.vanished, IsEmpty());
}

TEST(Compare, FindsWhatAppearedAndWhatVanished) {
  Report after = samples::every_kind();
  const std::string gone = after.results[0].id;
  after.results.erase(after.results.begin());
  after.results.push_back(after.results[0]);
  after.results.back().id = "new";
  const Comparison c = compare(as_json(samples::every_kind()), as_json(after));
  ASSERT_EQ(c.appeared.size(), 1U);
  EXPECT_EQ(c.appeared[0].id, "new");
  ASSERT_EQ(c.vanished.size(), 1U);
  EXPECT_EQ(c.vanished[0].id, gone);
}

TEST(Compare, JudgesVerdicts) {
  const std::vector<Verdict> order{Verdict::pass, Verdict::untrusted, Verdict::skipped, Verdict::fail, Verdict::error};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < order.size(); ++j) {
      if (i == j) continue;
      Pair change;
      change.old_result().verdict = order[i];
      change.new_result().verdict = order[j];
      EXPECT_THAT(outcome(change.compared()), HasSubstr(j > i ? "worse: " : "better: ")) << i << " " << j;
    }
}

TEST(Compare, AKnownFaultThatIsNoLongerFoundIsWorse) {
  Pair change;
  change.old_result().verdict = Verdict::fail;
  change.new_result().unexpected = true;
  EXPECT_EQ(outcome(change.compared()), "worse: fail -> pass (not expected)");
}

TEST(Compare, JudgesMarginsAndWithoutThemTheLargestDifference) {
  Pair change;
  change.new_result().margin = 0.75;
  EXPECT_EQ(outcome(change.compared()), "worse: margin 0.625 -> 0.75");
  EXPECT_EQ(outcome(change.compared(0.25)), "same");
  change.new_result().margin = 0.5;
  EXPECT_EQ(outcome(change.compared()), "better: margin 0.625 -> 0.5");
  change.old_result().margin.reset();
  change.new_result().measured.max_abs = 1;
  EXPECT_EQ(outcome(change.compared()), "worse: max_abs 0.000152587890625 -> 1");
}

TEST(Compare, NaNIsTheWorstNumber) {
  Pair change;
  change.old_result().margin.reset();
  change.old_result().measured.max_abs = HUGE_VAL;
  change.new_result().measured.max_abs = std::nan("");
  EXPECT_EQ(outcome(change.compared()), "worse: max_abs Infinity -> NaN");
  std::swap(change.before, change.after);
  EXPECT_EQ(outcome(change.compared()), "better: max_abs NaN -> Infinity");
  change.before = change.after;
  EXPECT_EQ(outcome(change.compared()), "same");
}

TEST(Compare, TextIsTheApprovedText) {
  Report before = samples::every_kind(), after = samples::every_kind();
  before.complete = true;
  after.results[1].margin = 0.875;
  after.results[3].verdict = Verdict::pass;
  after.results[3].unexpected = false;
  after.results[5].id = "renamed";
  expect_approved("compare.txt", comparison_text(compare(as_json(before), as_json(after))));
}

TEST(Compare, TextOfManyChangesIsCut) {
  Report after = samples::large(500);
  for (Result& result : after.results) result.verdict = Verdict::error;
  const std::string text = comparison_text(compare(as_json(samples::large(500)), as_json(after)), 3);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 12);
  EXPECT_THAT(text, HasSubstr("  ... and "));
}

}  // namespace
}  // namespace ropewalk
