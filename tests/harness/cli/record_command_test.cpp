// `ropewalk record` and subjects that replay a recording, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "harness/golden/sha256.hpp"
#include "harness/tensors/safetensors.hpp"
#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

fs::path fresh(const std::string& name) {
  const fs::path path = scratch() / name;
  fs::remove_all(path);
  return path;
}

// A table and a rotation, by kernels; `subjects` beside the live one, `checks` between them.
std::string cases_of(const std::string& name, const std::string& subject, int positions = 40) {
  const auto one = [&](const std::string& kind, const std::string& block, const std::string& recipe,
                       const std::string& stages) {
    std::string other = subject;
    if (const auto at = other.find("RECIPE"); at != std::string::npos) other.replace(at, 6, recipe);
    return R"({"name": ")" + kind + R"(", "rope": {"head_dim": 8, "max_position": )" + std::to_string(positions) +
           "}, " + block + R"("dtype": ["float32", "bfloat16"], "subjects": [{"name": "live", "recipe": ")" + recipe +
           R"(", "device": "cuda-kernels"})" + (other.empty() ? "" : ", " + other) + R"(], "checks": [)" +
           (other.empty() ? R"({"relation": "accuracy", "stages": ["cos"]})"
                          : R"({"relation": "identity", "between": ["replayed", "live"], "stages": )" + stages + "}") +
           "]}";
  };
  const fs::path file = scratch() / (name + ".json");
  std::ofstream(file) << R"({"schema_version": 1, "name": "recorded", "cases": [)"
                      << one("table", "", "kernel-table-phase", R"(["angle", "cos", "sin"])") << ", "
                      << one("rotation", R"("attention": {"heads": 4, "kv_heads": 2}, )", "kernel-rotate-half-early",
                             R"(["cos", "rotated_q", "rotated_k"])")
                      << "]}";
  return file.string();
}

const std::string kReplayed = R"({"name": "replayed", "recording": "kept"})";

Outcome record(const std::string& arguments) { return ropewalk_says("record " + arguments); }

fs::path kept(const std::string& device = "cuda-kernels", const std::string& name = "kept",
              const std::string& options = "") {
  const fs::path folder = fresh(name);
  const Outcome outcome =
      record(cases_of("live", "") + " --device " + device + " --out " + folder.string() + " " + options);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return folder;
}

Json run_report(const std::string& cases, int expected) {
  const fs::path report = scratch() / "report.json";
  const Outcome outcome = ropewalk_says("run " + cases + " --quiet --all-results --report " + report.string());
  EXPECT_EQ(outcome.code, expected) << outcome.err;
  return Json::parse(text_of(report));
}

Json manifest(const fs::path& folder) { return Json::parse(text_of(folder / "manifest.json")); }

std::uintmax_t bytes_of_folder(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size();
  return bytes;
}

TEST(Record, KeepsEveryStageAndItsProvenance) {
  const fs::path folder = kept();
  const Json m = manifest(folder);
  EXPECT_EQ(m["device"]["name"], "cuda-kernels");
  EXPECT_FALSE(m["device"]["versions"].get<std::string>().empty());
  for (const char* field : {"cpu", "torch", "libm", "git", "seed"})
    EXPECT_TRUE(m["environment"].contains(field)) << field;
  ASSERT_EQ(m["cases"].size(), 4U);
  const auto stages_of = [](const Json& entry) {
    std::set<std::string> out;
    for (const auto& stage : entry["runs"][0]["stages"]) out.insert(stage["stage"].get<std::string>());
    return out;
  };
  EXPECT_THAT(stages_of(m["cases"][0]), testing::UnorderedElementsAre("angle", "cos", "inv_freq", "positions", "sin"));
  EXPECT_THAT(stages_of(m["cases"][2]),
              testing::UnorderedElementsAre("angle", "cos", "inv_freq", "positions", "rotated_k", "rotated_q", "sin"));
}

TEST(Record, ReplaysWithIdentity) {
  kept();
  const Json report = run_report(cases_of("replay", kReplayed), 0);
  EXPECT_EQ(report["summary"]["pass"], 12);
  const Json& subject = report["results"][0]["subjects"][0];
  EXPECT_EQ(subject["recipe"], "kernel-table-phase");
  EXPECT_EQ(subject["device"], "cuda-kernels");
  EXPECT_THAT(subject["recording"].get<std::string>(), testing::EndsWith("kept"));
  EXPECT_EQ(subject["emulated"], manifest(scratch() / "kept")["device"]["emulated"]);
}

// As a change of one element on another machine would look: consistent, and another number.
void flip_one_bit(const fs::path& folder, std::size_t entry, const std::string& tensor, std::size_t element) {
  Json m = manifest(folder);
  const fs::path file = folder / m["cases"][entry]["file"].get<std::string>();
  auto tensors = read_safetensors(file);
  Tensor changed = copy_of(tensors.at(tensor));
  changed.bytes()[element * bytes_of(changed.dtype())] ^= std::byte{1};
  tensors.at(tensor) = changed;
  write_safetensors(file, tensors);
  m["cases"][entry]["sha256"] = sha256_of(file);
  std::ofstream(folder / "manifest.json") << m;
}

TEST(Record, OneChangedBitIsFoundAndLocated) {
  flip_one_bit(kept(), 0, "kernel-table-phase/sin", 31 * 4 + 2);
  Json report = run_report(cases_of("replay", kReplayed), 1);
  EXPECT_EQ(report["summary"]["fail"], 1);
  for (const Json& result : report["results"]) {
    if (result["verdict"] != "fail") continue;
    EXPECT_EQ(result["stage"], "sin");
    EXPECT_EQ(result["measured"]["mismatched"], 1);
    EXPECT_EQ(result["worst"]["index"], Json::array({31, 2}));
    EXPECT_EQ(result["worst"]["position"], 31);
    EXPECT_EQ(result["first_stage"], "sin");
  }
  flip_one_bit(kept(), 3, "kernel-rotate-half-early/rotated_k", 100);
  report = run_report(cases_of("replay", kReplayed), 1);
  EXPECT_EQ(report["summary"]["fail"], 1);
  for (const Json& result : report["results"])
    if (result["verdict"] == "fail") {
      EXPECT_EQ(result["stage"], "rotated_k");
      EXPECT_EQ(result["dtype"], "bfloat16");
      EXPECT_EQ(result["measured"]["mismatched"], 1);
    }
}

TEST(Record, CloseRecordingsAreStoredByTheirDifferences) {
  const fs::path whole = kept(), close = kept("cuda-math", "close", "--against " + whole.string());
  EXPECT_EQ(bytes_of_folder(close), 0U) << "the steps give the same bits";
  EXPECT_TRUE(manifest(close)["cases"][0]["file"].is_null());
  EXPECT_EQ(run_report(cases_of("replay", R"({"name": "replayed", "recording": "close"})"), 0)["summary"]["pass"], 12);

  // A device that gives other numbers in places: those alone are stored, and come back.
  flip_one_bit(whole, 0, "kernel-table-phase/sin", 31 * 4 + 2);
  const fs::path apart = kept("cuda-math", "close", "--against " + whole.string());
  EXPECT_GT(bytes_of_folder(apart), 0U);
  EXPECT_LT(10 * bytes_of_folder(apart), bytes_of_folder(whole));
  EXPECT_EQ(run_report(cases_of("replay", R"({"name": "replayed", "recording": "close"})"), 0)["summary"]["pass"], 12);
  EXPECT_EQ(run_report(cases_of("replay", kReplayed), 1)["summary"]["fail"], 1);
}

void expect_refused(const std::string& cases, const std::string& why) {
  const Outcome outcome = ropewalk_says("run " + cases + " --report " + (scratch() / "report.json").string());
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(why));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(Record, ARecordingThatIsNotAsItWasIsRefusedInOneLine) {
  const std::string replay = cases_of("replay", kReplayed);
  fs::path folder = kept();
  fs::remove_all(folder);
  expect_refused(replay, "no such folder; one that ropewalk record wrote is needed");

  folder = kept();
  const fs::path file = folder / manifest(folder)["cases"][0]["file"].get<std::string>();
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(-1, std::ios::end);
  bytes.put('\x55').flush();
  expect_refused(replay, "the file is not the one that was recorded: its bytes have changed");
  fs::remove(file);
  expect_refused(replay, "this file of the recording is missing");

  folder = kept();
  expect_refused(cases_of("replay", kReplayed, 41),
                 "nothing was recorded for recorded/table/head_dim=8,max_position=41");
  expect_refused(cases_of("replay", R"({"name": "replayed", "recording": "kept", "recipe": "torchtune"})"),
                 "torchtune was not recorded, but: kernel-table-phase");
  Json m = manifest(folder);
  m["cases"][0]["runs"][0]["surprise"] = 1;
  std::ofstream(folder / "manifest.json") << m;
  expect_refused(replay, "cases[0].runs[0].surprise: 1: unknown field");
  std::ofstream(folder / "manifest.json") << "{";
  expect_refused(replay, "JSON syntax error");
}

TEST(Record, ABaseThatIsAnotherIsRefused) {
  const fs::path whole = kept();
  kept("cuda-math", "close", "--against " + whole.string());
  flip_one_bit(whole, 0, "kernel-table-phase/sin", 0);
  expect_refused(cases_of("replay", R"({"name": "replayed", "recording": "close"})"),
                 "is another recording than the one that this one needs");
  const Outcome chained = record(cases_of("live", "") + " --device cpu --out " + fresh("third").string() +
                                 " --against " + (scratch() / "kept").string() + "/nowhere");
  EXPECT_EQ(chained.code, 2) << chained.err;
}

TEST(Record, WrongUse) {
  const std::string cases = cases_of("live", "");
  const std::string out = " --out " + fresh("kept").string();
  EXPECT_EQ(record(cases + " --device cuda-kernels").code, 2);
  EXPECT_EQ(record(cases + " --device tpu" + out).code, 2);
  EXPECT_EQ(record("nowhere.json --device cpu" + out).code, 2);
  EXPECT_EQ(record(cases + " --device cpu --out " ROPEWALK_SOURCE_DIR).code, 2);
  if (ropewalk_says("devices").out.find("cuda          available") == std::string::npos) {
    const Outcome absent = record(cases + " --device cuda" + out);
    EXPECT_EQ(absent.code, 3);
    EXPECT_THAT(absent.err, HasSubstr("the device cuda is not here"));
    EXPECT_FALSE(fs::exists(scratch() / "kept"));
  }
}

// Several recipes in one case: each is kept once, and replaying names one.
TEST(Record, ARecipeIsChosenAmongSeveral) {
  const fs::path folder = fresh("several");
  const fs::path file = scratch() / "several.json";
  std::ofstream(file)
      << R"({"schema_version": 1, "name": "s", "cases": [{"name": "a", "rope": {"head_dim": 80, "max_position": 9}, "dtype": "float32",
    "subjects": [{"recipe": "torchtune", "device": "cpu"}, {"recipe": "hf-llama-4.37", "device": "cpu", "module_cast": true}, {"recipe": "torchtune", "device": "cuda-math"}],
    "checks": [{"relation": "accuracy"}]}]})";
  ASSERT_EQ(record(file.string() + " --device cpu --out " + folder.string()).code, 0);
  EXPECT_EQ(manifest(folder)["cases"][0]["runs"].size(), 2U);
  const auto replay = [&](const std::string& more) {
    std::ofstream(file)
        << R"({"schema_version": 1, "name": "s", "cases": [{"name": "b", "rope": {"head_dim": 80, "positions": [[0, 1, 2, 3, 4, 5, 6, 7, 8]]}, "dtype": "float32",
      "subjects": [{"name": "kept", "recording": "several")"
        << more << R"(}, {"name": "live", "recipe": "torchtune", "device": "cpu"}],
      "checks": [{"relation": "identity", "between": ["kept", "live"]}, {"relation": "accuracy"}]}]})";
    return file.string();
  };
  expect_refused(replay(""),
                 "several recipes were recorded, name one with \"recipe\": torchtune, hf-llama-4.37 with module_cast");
  EXPECT_EQ(run_report(replay(R"(, "recipe": "torchtune")"), 0)["summary"]["pass"], 12);
}

}  // namespace
}  // namespace ropewalk
