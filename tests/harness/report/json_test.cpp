#include "harness/report/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "harness/report/numbers.hpp"
#include "tests/harness/report/sample_reports.hpp"
#include "tests/support/approved.hpp"

namespace ropewalk {
namespace {

std::set<std::string> ids(const nlohmann::ordered_json& results) {
  std::set<std::string> out;
  for (const auto& result : results) out.insert(result["id"].get<std::string>());
  return out;
}

TEST(ReportJson, IsTheApprovedText) {
  nlohmann::ordered_json document = to_json(samples::every_kind(), false);
  EXPECT_EQ(document["tool"]["name"], "ropewalk");
  document["tool"]["version"] = "VERSION";
  expect_approved("every_kind.json", report_text(document));
}

TEST(ReportJson, OfAnEmptyReportIsTheApprovedText) {
  nlohmann::ordered_json document = to_json(Report{}, false);
  document["tool"]["version"] = "VERSION";
  expect_approved("empty.json", report_text(document));
}

TEST(ReportJson, TextReadsBackToTheSameValues) {
  const nlohmann::ordered_json document = to_json(samples::seed_grid(), true);
  EXPECT_EQ(nlohmann::ordered_json::parse(report_text(document)), document);
}

TEST(ReportJson, KeepsOfTheOrdinaryPassesTheTightestOfEachGroupAndNamesTheOthers) {
  const Report report = samples::every_kind();
  const nlohmann::ordered_json document = to_json(report, false);
  const std::set<std::string> kept = ids(document["results"]);
  EXPECT_EQ(kept.size(), report.results.size() - 2);
  EXPECT_FALSE(kept.contains(report.results[0].id));  // margin 0.25
  EXPECT_TRUE(kept.contains(report.results[1].id));   // margin 0.625
  EXPECT_FALSE(kept.contains(report.results[2].id));  // margin 0.5
  ASSERT_EQ(document["passed"].size(), 2U);
  EXPECT_EQ(document["passed"][report.results[0].id], 0.25);
  EXPECT_EQ(document["passed"][report.results[2].id], 0.5);
}

TEST(ReportJson, KeepsAllIdentityResultsAndUnexpectedPasses) {
  Report report;
  report.results.assign(5, samples::every_kind().results[0]);
  for (std::size_t i = 0; i < report.results.size(); ++i) report.results[i].id = std::to_string(i);
  report.results[1].relation = report.results[2].relation = Relation::identity;
  report.results[3].unexpected = true;
  report.results[4].margin = 0.75;
  EXPECT_EQ(ids(to_json(report, false)["results"]), (std::set<std::string>{"1", "2", "3", "4"}));
}

TEST(ReportJson, KeepsEverythingWhenAsked) {
  const Report report = samples::every_kind();
  const nlohmann::ordered_json document = to_json(report, true);
  EXPECT_EQ(document["results"].size(), report.results.size());
  EXPECT_TRUE(document["passed"].empty());
}

TEST(ReportJson, SummaryCountsAllResultsWhateverIsKept) {
  for (const bool all : {false, true}) {
    const nlohmann::ordered_json summary = to_json(samples::every_kind(), all)["summary"];
    EXPECT_EQ(summary["checks"], 11);
    EXPECT_EQ(summary["pass"], 5);
    EXPECT_EQ(summary["fail"], 3);
    EXPECT_EQ(summary["skipped"], 1);
    EXPECT_EQ(summary["error"], 1);
    EXPECT_EQ(summary["untrusted"], 1);
    EXPECT_EQ(summary["unexpected"], 4);
    EXPECT_EQ(summary["by_case"]["seed-rope/before"]["checks"], 5);
    EXPECT_EQ(summary["by_case"]["seed-rope/before"]["unexpected"], 1);
    EXPECT_EQ(summary["by_case"]["seed-rope/proposal"]["checks"], 6);
    EXPECT_EQ(summary["by_case"]["seed-rope/proposal"]["unexpected"], 3);
  }
}

TEST(ReportJson, WritesDecidingNumbersExactly) {
  Report report;
  report.results.push_back(samples::every_kind().results[3]);
  Result& result = report.results[0];
  result.margin = 0.1;
  result.worst->got = std::nextafter(1.0, 2.0);
  result.worst->expected = -0.0;
  result.measured.max_abs = std::numeric_limits<double>::denorm_min();
  const auto document = nlohmann::json::parse(report_text(to_json(report, true)));
  const auto& read = document["results"][0];
  EXPECT_EQ(read["margin"].get<double>(), 0.1);
  EXPECT_EQ(read["measured"]["max_abs"].get<double>(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(read["worst"]["got"], "0x1.0000000000001p+0");
  EXPECT_EQ(read["worst"]["got_decimal"], "1.0000000000000002");
  EXPECT_EQ(read["worst"]["expected"], "-0x0p+0");
  EXPECT_EQ(read["worst"]["expected_decimal"], "-0");
}

TEST(ReportNumbers, SpellWhatJsonHasNoNumberFor) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json_number(std::nan("")), "NaN");
  EXPECT_EQ(json_number(infinity), "Infinity");
  EXPECT_EQ(json_number(-infinity), "-Infinity");
  EXPECT_EQ(hex_float(-infinity), "-Infinity");
  EXPECT_EQ(decimal(std::nan("")), "NaN");
  EXPECT_EQ(number_in("Infinity"), infinity);
  EXPECT_EQ(number_in("-Infinity"), -infinity);
  EXPECT_TRUE(std::isnan(number_in("NaN")));
  EXPECT_TRUE(std::isnan(number_in(nullptr)));
  EXPECT_EQ(number_in(3), 3.0);
}

TEST(ReportNumbers, HexFloatsReadBackToEveryBit) {
  for (const double value : {0.0, 0.1, -1.5, 1e-310, 4.9e-324, 1.7976931348623157e308, 0x1p-1022, 1.0 / 3}) {
    EXPECT_EQ(std::strtod(hex_float(value).c_str(), nullptr), value) << hex_float(value);
    EXPECT_EQ(std::strtod(decimal(value).c_str(), nullptr), value) << decimal(value);
    EXPECT_EQ(nlohmann::json::parse(report_text(json_number(value))).get<double>(), value);
  }
}

}  // namespace
}  // namespace ropewalk
