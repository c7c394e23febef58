// reports/report.schema.json describes what is written, all of it and nothing else; so does docs/report.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "harness/report/json.hpp"
#include "harness/report/schema.hpp"
#include "tests/harness/report/sample_reports.hpp"
#include "tests/support/approved.hpp"

namespace ropewalk {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::Not;

// The schema leaves room for fields to come; for the tests every object with named fields is closed.
json closed(json schema) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object() &&
      !schema["properties"].empty())
    schema["additionalProperties"] = false;
  if (schema.is_structured())
    for (json& part : schema) part = closed(part);
  return schema;
}

json written(const Report& report, bool all) { return json::parse(report_text(to_json(report, all))); }

TEST(ReportSchema, AcceptsEveryReportAndKnowsEveryField) {
  const json schema = closed(schema_named("report"));
  for (const bool all : {false, true}) {
    EXPECT_THAT(schema_errors(schema, written(Report{}, all)), IsEmpty());
    EXPECT_THAT(schema_errors(schema, written(samples::every_kind(), all)), IsEmpty());
    EXPECT_THAT(schema_errors(schema, written(samples::seed_grid(), all)), IsEmpty());
  }
}

TEST(ReportSchema, IsTheFileInReports) {
  const auto path = std::filesystem::path(ROPEWALK_SOURCE_DIR) / "reports" / "report.schema.json";
  EXPECT_EQ(schema_named("report"), json::parse(text_of_file(path)));
}

bool matches(const json::json_pointer& at, const char* pattern) {
  return std::regex_search(at.to_string(), std::regex(pattern));
}

// Puts nonsense in the place of every field below `at`, and leaves out every field that is needed: each is refused.
void spoil_each(json& document, const json& schema, const json::json_pointer& at, int& refused) {
  if (matches(at, "/(params|details)/")) return;  // their content belongs to the case or the check
  const json value = document[at];
  document[at] = json::array({json::object({{"nonsense", 1}})});
  EXPECT_THAT(schema_errors(schema, document), Not(IsEmpty())) << "nonsense at " << at;
  ++refused;
  const json::json_pointer parent = at.parent_pointer();
  const bool optional =
      matches(at, "/subjects/[0-9]+/(recipe|device|program|tensors|claims|module_cast)$|^/passed/|/by_case/[^/]*$");
  if (document[parent].is_object() && !optional) {
    document[parent].erase(at.back());
    EXPECT_THAT(schema_errors(schema, document), Not(IsEmpty())) << "without " << at;
  }
  document[at] = value;
  if (value.is_object())
    for (const auto& [key, child] : value.items()) spoil_each(document, schema, at / key, refused);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) spoil_each(document, schema, at / i, refused);
}

TEST(ReportSchema, RefusesNonsenseInAnyFieldAndTheLackOfAnyField) {
  Report report = samples::every_kind();
  report.results = {report.results[0], report.results[1], report.results[3], report.results[6], report.results[9]};
  json document = written(report, false);
  const json schema = schema_named("report");
  int refused = 0;
  const json fields = document;
  for (const auto& [key, unused] : fields.items()) spoil_each(document, schema, json::json_pointer() / key, refused);
  EXPECT_GT(refused, 200);
}

TEST(ReportSchema, AcceptsTheExampleInTheDocumentation) {
  const std::string text = text_of_file(std::filesystem::path(ROPEWALK_SOURCE_DIR) / "docs" / "report.md");
  const std::size_t start = text.find("```json\n"), end = text.find("\n```", start + 1);
  ASSERT_NE(start, std::string::npos);
  const json example = json::parse(text.substr(start + 8, end - start - 8));
  EXPECT_THAT(schema_errors(closed(schema_named("report")), example), IsEmpty());
}

// Every field of the schema has a row or a sentence of its own in docs/report.md, in code quotes.
void expect_explained(const json& schema, const std::string& text) {
  if (schema.is_object() && schema.contains("properties")) {
    for (const auto& [name, unused] : schema["properties"].items())
      EXPECT_NE(text.find("`" + name), std::string::npos) << name << " is not explained in docs/report.md";
  }
  if (schema.is_structured())
    for (const json& part : schema) expect_explained(part, text);
}

TEST(ReportSchema, HasNoFieldThatTheDocumentationDoesNotExplain) {
  expect_explained(schema_named("report"),
                   text_of_file(std::filesystem::path(ROPEWALK_SOURCE_DIR) / "docs" / "report.md"));
}

}  // namespace
}  // namespace ropewalk
