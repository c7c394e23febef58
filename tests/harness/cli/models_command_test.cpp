// What `ropewalk list --json` and a report show of a model's own config.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

std::string models_case() {
  const auto file = scratch() / "models.json";
  std::ofstream(file) << R"({"schema_version": 1, "name": "m", "cases": [{"name": "t",
      "model_config": ")" ROPEWALK_TEST_DIR R"(/data/configs/Llama-3.2-1B.json",
      "positions": {"log_spaced": [0, "max_position"], "count": 8}, "dtype": ["float32", "bfloat16"],
      "subjects": [{"name": "a", "recipe": "hf-llama-5.24", "device": "cpu"}],
      "checks": [{"relation": "accuracy"}]}]})";
  return file.string();
}

void expect_llama_3_2(const nlohmann::json& derived) {
  EXPECT_EQ(derived["theta"], 500000);
  EXPECT_EQ(derived["rotary_dim"], 64);
  // transformers 32330: pairs 0 to 14 are kept, 15 to 17 blended, 18 to 31 divided
  EXPECT_EQ(derived["bands"], nlohmann::json::parse(R"({"kept": 15, "blended": 3, "divided": 14})"));
  EXPECT_EQ(derived["amplitude"], 1);
  EXPECT_EQ(derived["softmax_scale"], 0.125);
  EXPECT_EQ(derived["scaling"]["type"], "llama3");
}

TEST(Models, ListShowsWhatWasDerived) {
  const Outcome outcome = ropewalk_says("list --json " + models_case());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto listed = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(listed.size(), 10U);
  EXPECT_THAT(listed[0]["id"].get<std::string>(), HasSubstr("m/t/model_config=Llama-3.2-1B,positions=log_spaced("));
  for (const auto& planned : listed) expect_llama_3_2(planned["derived"]);
}

TEST(Models, TheReportSaysItOnceForAllDtypes) {
  const auto report = (scratch() / "models-report.json").string();
  const Outcome outcome = ropewalk_says("run --quiet " + models_case() + " --report " + report);
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  std::ifstream stream(report);
  const auto document = nlohmann::json::parse(stream);
  ASSERT_EQ(document["derived"].size(), 1U);
  EXPECT_EQ(document["derived"].begin().key(), "m/t/model_config=Llama-3.2-1B,positions=log_spaced(0..max_position;8)");
  expect_llama_3_2(*document["derived"].begin());
  EXPECT_EQ(ropewalk_says("validate " + report).code, 0);
}

}  // namespace
}  // namespace ropewalk
