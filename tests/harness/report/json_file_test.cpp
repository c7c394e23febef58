// Writing a report to disk and reading it back.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "harness/bad_input.hpp"
#include "harness/report/json.hpp"
#include "tests/harness/report/sample_reports.hpp"
#include "tests/support/approved.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReportFile : public ::testing::Test {
 protected:
  ReportFile() { fs::create_directories(folder_); }
  ~ReportFile() override { fs::remove_all(folder_); }

  std::string refusal(const std::string& text) {
    std::ofstream(folder_ / "bad.json") << text;
    return refusal_of(folder_ / "bad.json");
  }
  static std::string refusal_of(const fs::path& path) {
    try {
      read_report(path);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_ = fs::temp_directory_path() / fmt::format("ropewalk-report-file-{}", ::getpid());
};

TEST_F(ReportFile, ReadsBackWhatWasWritten) {
  const nlohmann::ordered_json document = to_json(samples::every_kind(), false);
  const fs::path path = folder_ / "new" / "folder" / "report.json";
  write_report(path, document);
  const nlohmann::json read = read_report(path);
  EXPECT_EQ(read, nlohmann::json::parse(report_text(document)));
  EXPECT_EQ(read["environment"]["seed"].get<std::uint64_t>(), 18446744073709551615U);
}

TEST_F(ReportFile, ReplacesTheOldFileAndLeavesNothingBeside) {
  const fs::path path = folder_ / "report.json";
  std::ofstream(path) << "old";
  write_report(path, to_json(Report{}, false));
  EXPECT_TRUE(read_report(path)["results"].empty());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(ReportFile, KeepsALinkALinkAndADeviceADevice) {
  std::ofstream(folder_ / "real.json") << "old";
  fs::create_symlink("real.json", folder_ / "link.json");
  write_report(folder_ / "link.json", to_json(Report{}, false));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_TRUE(read_report(folder_ / "real.json")["results"].empty());
  fs::create_symlink("/dev/null", folder_ / "null");
  write_report(folder_ / "null", to_json(Report{}, false));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(ReportFile, RefusesAPathThatCannotBeWritten) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THROW(write_report(folder_ / "file" / "report.json", to_json(Report{}, false)), BadInput);
  EXPECT_THROW(write_report(folder_, to_json(Report{}, false)), BadInput);
  EXPECT_THROW(write_report("/dev/full", to_json(Report{}, false)), BadInput);
  EXPECT_EQ(text_of_file(folder_ / "file"), "x");
}

TEST_F(ReportFile, RefusesWhatIsNotAReport) {
  EXPECT_THAT(refusal_of(folder_ / "absent.json"), HasSubstr("absent.json: a report that can be read is needed"));
  EXPECT_THAT(refusal_of(folder_), HasSubstr("a report that can be read is needed"));
  EXPECT_THAT(refusal("{\"tool\": "), HasSubstr("bad.json: byte 10 is not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("not a report of ropewalk run"));
  EXPECT_THAT(refusal("{}"), HasSubstr("not a report of ropewalk run"));
  EXPECT_THAT(refusal(R"({"schema_version": 2, "tool": {}, "results": []})"),
              HasSubstr("schema_version: 2: this program reads version 1"));
  EXPECT_THAT(refusal(R"({"tool": {}, "results": []})"),
              HasSubstr("schema_version: null: this program reads version 1"));
}

TEST_F(ReportFile, RefusesAWrongFieldByName) {
  nlohmann::ordered_json document = to_json(samples::every_kind(), true);
  document["results"][3]["verdict"] = "green";
  EXPECT_THAT(refusal(document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)),
              HasSubstr(R"(bad.json: results[3].verdict: "green": one of "pass", "fail")"));
}

TEST_F(ReportFile, AcceptsFieldsOfALaterVersion) {
  nlohmann::ordered_json document = to_json(Report{}, true);
  document["summary"]["a_new_field"] = 1;
  EXPECT_EQ(refusal(document.dump()), "accepted");
}

TEST_F(ReportFile, TakesThousandsOfResults) {
  const nlohmann::ordered_json document = to_json(samples::large(5000), false);
  write_report(folder_ / "large.json", document);
  EXPECT_EQ(read_report(folder_ / "large.json")["summary"]["checks"], 5000);
}

TEST(ReportText, KeepsListsOfNumbersAndShortObjectsOnOneLine) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (int i = 0; i < 100; ++i) list.push_back(i);
  const nlohmann::ordered_json document{
      {"numbers", list}, {"bands", {{{"first", 0}}, {{"first", 1}}}}, {"long", std::string(200, 'x')}};
  const std::string text = report_text(document);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  EXPECT_THAT(text, HasSubstr("\n  \"bands\": [{\"first\": 0}, {\"first\": 1}],\n"));
}

}  // namespace
}  // namespace ropewalk
