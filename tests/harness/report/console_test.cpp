#include "harness/report/console.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "harness/report/identity_lines.hpp"
#include "tests/harness/report/sample_reports.hpp"
#include "tests/support/approved.hpp"

namespace ropewalk {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::ptrdiff_t line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(Console, OfTheSeedGridIsTheApprovedText) { expect_approved("seed_grid.txt", summary_text(samples::seed_grid())); }
TEST(Console, OfEveryKindIsTheApprovedText) { expect_approved("every_kind.txt", summary_text(samples::every_kind())); }
TEST(Console, OfAnEmptyReportIsTheApprovedText) { expect_approved("empty.txt", summary_text(Report{})); }

TEST(Console, OfThousandsOfResultsFitsOneScreen) {
  const std::string text = summary_text(samples::large(20000));
  EXPECT_LE(line_count(text), 42) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("... and 42 more cases"), HasSubstr("more reasons"), HasSubstr("more lines")));
}

TEST(Console, OfManyCasesShowsThoseThatAreNotAsExpectedFirst) {
  Report report;
  report.results.assign(30, samples::every_kind().results[0]);
  for (std::size_t i = 0; i < 30; ++i) report.results[i].case_name = "number-" + std::to_string(i);
  report.results[29].unexpected = true;
  const std::string text = summary_text(report);
  EXPECT_LT(text.find("\nnumber-29 "), text.find("\nnumber-0 ")) << text;
  EXPECT_THAT(text, HasSubstr("... and 22 more cases, 0 unexpected"));
}

TEST(Console, ShowsNoControlCharacters) {
  const std::string text = summary_text(samples::every_kind());
  EXPECT_TRUE(
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f; }));
  EXPECT_THAT(text, HasSubstr("\\x1b[31mTraceback"));
}

TEST(Console, LastLineIsTheAnswer) {
  const auto last = [](const Report& report) {
    const std::string text = summary_text(report);
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
  };
  EXPECT_EQ(last(samples::seed_grid()), "as expected: 1620 of 1620 verdicts\n");
  EXPECT_EQ(last(samples::every_kind()), "NOT AS EXPECTED: 4 of 11 verdicts\n");
  EXPECT_EQ(last(Report{}), "NOTHING WAS COMPARED: there were no checks\n");
  Report skipped = samples::every_kind();
  for (Result& r : skipped.results) r.verdict = Verdict::skipped, r.unexpected = false;
  EXPECT_EQ(last(skipped), "NOTHING WAS COMPARED: 11 checks skipped\n");
}

std::vector<std::string> texts(const Report& report) { return in_columns(identity_lines(report)); }

TEST(IdentityLines, AnswerForEachCaseAndDtype) {
  EXPECT_THAT(
      texts(samples::seed_grid()),
      ElementsAre(
          "before    float32                   on-cpu ~ on-gpu  differs in 27 of 27 cells, largest 1.2e-04 in sin "
          "at position 4095 pair 3 (head_dim=64,base=10000,max_position=4096), starts at inv_freq, "
          "closer to exact: on-cpu",
          "before    bfloat16 float16          on-cpu ~ on-gpu  identical in 27 of 27 cells",
          "proposal  float32 bfloat16 float16  on-cpu ~ on-gpu  identical in 27 of 27 cells"));
}

TEST(IdentityLines, TakeTurnsWhenThereIsNoRoomForAll) {
  std::vector<IdentityLine> lines;
  for (const char* label : {"a", "a", "a", "a", "b", "c", "c"})
    lines.push_back({label, std::to_string(lines.size()), "", "", false});
  const auto chosen = [&](std::size_t most) {
    std::string out;
    for (const IdentityLine& line : some_of_each_case(lines, most)) out += line.dtypes;
    return out;
  };
  EXPECT_EQ(chosen(2), "04");
  EXPECT_EQ(chosen(4), "0145");
  EXPECT_EQ(chosen(5), "01456");
  EXPECT_EQ(chosen(9), "0123456");
}

// One differing result of `count` cells, to be changed by each test.
Report one_case(int count) {
  Report report;
  const Result differing = samples::every_kind().results[4];
  for (int i = 0; i < count; ++i) {
    report.results.push_back(differing);
    report.results.back().params["head_dim"] = i;
  }
  return report;
}

TEST(IdentityLines, NameTheCellWithTheLargestDifference) {
  Report report = one_case(3);
  report.results[1].measured.max_abs = 0.5;
  report.results[1].worst->position = 99;
  EXPECT_THAT(texts(report)[0], HasSubstr("largest 5.0e-01 in sin at position 99 pair 3 (head_dim=1,"));
  report.results[2].measured.max_abs = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(texts(report)[0], HasSubstr("largest NaN in sin at position 4095 pair 3 (head_dim=2,"));
}

TEST(IdentityLines, CountStagesAndWinnersThatVary) {
  Report report = one_case(3);
  report.results[1].first_stage = "angle";
  report.results[2].closer->subject = "on-gpu";
  EXPECT_THAT(
      texts(report)[0],
      HasSubstr("starts at angle (1 cell), inv_freq (2 cells), closer to exact: on-cpu (2 tables), on-gpu (1 table)"));
}

TEST(IdentityLines, DoNotCountWhatWasNotCompared) {
  Report report = one_case(3);
  report.results[0].verdict = Verdict::skipped;
  report.results[1].verdict = Verdict::untrusted;
  report.results[1].measured.mismatched = 0;
  EXPECT_THAT(texts(report)[0], AllOf(HasSubstr("differs in 1 of 3 cells"), HasSubstr("1 not compared, 1 untrusted")));
  for (Result& r : report.results) r.verdict = Verdict::error;
  EXPECT_THAT(texts(report)[0], HasSubstr("not compared (3 cells)"));
}

TEST(IdentityLines, ACellDiffersIfOneOfItsStagesDoes) {
  Report report = one_case(1);
  report.results.push_back(report.results[0]);
  report.results[0].stage = "cos";
  report.results[0].verdict = Verdict::pass;
  report.results[0].measured.mismatched = 0;
  EXPECT_THAT(texts(report)[0], HasSubstr("differs in 1 of 1 cell, "));
}

TEST(Console, DoesNotRoundAMarginUpToItsLimit) {
  Report report;
  report.results = {samples::every_kind().results[0]};
  report.results[0].margin = 0.99999;
  EXPECT_THAT(summary_text(report), HasSubstr("  0.999 of the limit (angle float32)"));
}

TEST(IdentityLines, BitsThatDifferAreADifferenceWhateverTheVerdict) {
  Report report = one_case(1);
  report.results[0].verdict = Verdict::pass;
  EXPECT_THAT(texts(report)[0], HasSubstr("differs in 1 of 1 cell, "));
}

TEST(IdentityLines, ShowParametersAsIdsDo) {
  EXPECT_EQ(params_text({{"base", 10000.0}, {"factor", 0.25}, {"dim", 64}, {"mode", "half"}}),
            "base=10000,factor=0.25,dim=64,mode=half");
  EXPECT_EQ(params_text(nullptr), "");
}

TEST(IdentityLines, KeepSuitesApart) {
  Report report = one_case(2);
  report.results[1].suite = "other";
  const std::vector<std::string> lines = texts(report);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1], HasSubstr("other/before"));
}

}  // namespace
}  // namespace ropewalk
