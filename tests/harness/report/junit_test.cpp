#include "harness/report/junit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/harness/report/sample_reports.hpp"
#include "tests/support/approved.hpp"

namespace ropewalk {
namespace {

using ::testing::HasSubstr;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(JUnit, OfEveryKindIsTheApprovedText) { expect_approved("every_kind.xml", junit_text(samples::every_kind())); }
TEST(JUnit, OfAnEmptyReportIsTheApprovedText) { expect_approved("empty.xml", junit_text(Report{})); }

TEST(JUnit, CountsWhatItLists) {
  const std::string text = junit_text(samples::large(3000));
  EXPECT_EQ(count(text, "<testcase "), 3000U);
  const std::size_t failures = count(text, "<failure "), errors = count(text, "<error "),
                    skipped = count(text, "<skipped ");
  EXPECT_EQ(failures, 818U);  // three kinds of eleven: failed, NaN, untrusted
  EXPECT_EQ(errors, 272U);
  EXPECT_EQ(skipped, 273U);
  EXPECT_NE(text.find("tests=\"3000\" failures=\"818\" errors=\"272\" skipped=\"273\""), std::string::npos);
}

TEST(JUnit, AnExpectedFailIsASuccessAndAnUnexpectedSkipAFailure) {
  Report report;
  report.results = {samples::every_kind().results[4], samples::every_kind().results[7]};
  EXPECT_THAT(junit_text(report), HasSubstr("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""));
  report.results[1].unexpected = true;
  report.results[1].expected = Verdict::pass;
  EXPECT_THAT(junit_text(report), HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
}

TEST(JUnit, HasOnlyCharactersThatXmlAllows) {
  Report report;
  report.results.push_back(samples::every_kind().results[8]);
  for (int c = 0; c < 256; ++c) report.results[0].reason += static_cast<char>(c);
  report.results[0].reason += "\xed\xa0\x80 \xef\xbf\xbf ]]> &amp;";  // a surrogate, U+FFFF
  const std::string text = junit_text(report);
  for (const unsigned char c : text) EXPECT_TRUE(c >= 0x20 || c == '\n') << int{c};
  EXPECT_THAT(text, HasSubstr("\\xed\\xa0\\x80 \\xef\\xbf\\xbf ]]&gt; &amp;amp;"));
  EXPECT_THAT(text, HasSubstr("\\x00\\x01"));
}

}  // namespace
}  // namespace ropewalk
