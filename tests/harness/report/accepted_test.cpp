// Known failures are expected as long as nothing about them grows.
#include "harness/report/accepted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/report/json.hpp"
#include "tests/harness/cases/documents.hpp"
#include "tests/harness/report/sample_reports.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPass = 1, kAccuracy = 3, kIdentity = 4, kNan = 6;  // of samples::every_kind()

struct Settled {
  Result result;
  explicit Settled(
      std::size_t which, const std::function<void(Result&)>& change = [](Result&) {},
      const std::function<void(Result&)>& change_accepted = [](Result&) {}) {
    Report before = samples::every_kind();
    before.complete = true;
    change_accepted(before.results[which]);
    const test::Folder folder;
    const auto file = folder.path() / "accepted.json";
    write_report(file, to_json(before, true));
    result = samples::every_kind().results[which];
    result.expected = Verdict::pass;
    result.unexpected = result.verdict != Verdict::pass;
    change(result);
    settle_accepted(result, read_accepted(file));
  }
  bool expected() const { return !result.unexpected; }
};

TEST(Accepted, AKnownFailureIsExpected) {
  for (const std::size_t which : {kAccuracy, kIdentity, kNan}) {
    const Settled same(which);
    EXPECT_TRUE(same.expected()) << same.result.reason;
    EXPECT_EQ(same.result.expected, Verdict::fail);
    EXPECT_TRUE(same.result.details.contains("accepted"));
  }
}

TEST(Accepted, ASmallerErrorIsExpectedToo) {
  EXPECT_TRUE(Settled(kAccuracy, [](Result& r) { r.measured.max_abs /= 2, *r.margin = 1.25; }).expected());
}

TEST(Accepted, GrowthIsUnexpectedAndSaysByHowMuch) {
  const auto reason = [](std::size_t which, const std::function<void(Result&)>& change) {
    const Settled s(which, change);
    return s.expected() ? "expected" : s.result.reason;
  };
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { r.measured.max_abs *= 2; }),
              HasSubstr("max_abs grew from 0.0003662109375 to 0.000732421875, 2 times since the accepted report "));
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { r.measured.max_ulp = 1; }), HasSubstr("max_ulp grew from 0.75 to 1"));
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { *r.margin = 1.75; }), HasSubstr("margin grew from 1.5 to 1.75"));
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { r.error->local.max_ulp = 0.625; }), HasSubstr("local max_ulp grew"));
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { r.error->local.max_abs = 1; }), HasSubstr("local max_abs grew"));
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { r.measured.max_abs = std::nan(""); }), HasSubstr("to NaN"));
  EXPECT_THAT(reason(kAccuracy, [](Result& r) { r.measured.nan[0] = 1; }), HasSubstr("number of NaN grew from 0 to 1"));
  EXPECT_THAT(reason(kNan, [](Result& r) { r.measured.inf[0] = 2; }), HasSubstr("infinities grew from 1 to 2"));
  EXPECT_THAT(reason(kIdentity, [](Result& r) { ++r.measured.mismatched; }),
              HasSubstr("number of elements with other bits grew from 32768 to 32769"));
}

TEST(Accepted, AnotherFirstStageIsUnexpected) {
  const Settled s(kAccuracy, [](Result& r) { r.first_stage = "inv_freq"; });
  EXPECT_FALSE(s.expected());
  EXPECT_THAT(s.result.reason, HasSubstr("it starts at inv_freq, in the accepted report at angle"));
}

TEST(Accepted, ANewFailureIsUnexpected) {
  const Settled s(kAccuracy, [](Result& r) { r.id += "x"; });
  EXPECT_FALSE(s.expected());
  EXPECT_THAT(s.result.reason, HasSubstr("not a failure in the accepted report"));
  EXPECT_FALSE(Settled(kPass, [](Result& r) { r.verdict = Verdict::fail, r.unexpected = true; }).expected());
}

TEST(Accepted, OtherVerdictsAreNotItsBusiness) {
  for (const Verdict verdict : {Verdict::error, Verdict::untrusted, Verdict::skipped})
    EXPECT_FALSE(Settled(kAccuracy, [&](Result& r) { r.verdict = verdict; }).expected());
  EXPECT_TRUE(Settled(kPass).expected());
}

TEST(Accepted, InvariantsMustFailInTheSameWords) {
  const auto broken = [](const char* words) {
    return [=](Result& r) { r.relation = Relation::invariants, r.reason = words; };
  };
  EXPECT_TRUE(Settled(kAccuracy, broken("3 values exceed 1"), broken("3 values exceed 1")).expected());
  EXPECT_FALSE(Settled(kAccuracy, broken("4 values exceed 1"), broken("3 values exceed 1")).expected());
}

TEST(Accepted, AnInterruptedReportIsRefused) {
  const test::Folder folder;
  const auto file = folder.path() / "accepted.json";
  write_report(file, to_json(samples::every_kind(), true));
  EXPECT_EQ(test::complaint(folder, [&] { read_accepted(file); }),
            "accepted.json: complete: false: the report of a run that was not interrupted is needed");
}

}  // namespace
}  // namespace ropewalk
