#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;

std::string report_path() { return (scratch() / "report.json").string(); }
nlohmann::json report() { return nlohmann::json::parse(text_of(report_path())); }

Outcome run(const std::string& arguments) {
  return ropewalk_says("run --quiet --report " + report_path() + " " + arguments);
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Run, AllAsExpectedIsZeroAndTheReportIsValid) {
  ASSERT_EQ(run(case_file("small.json")).code, 0);
  const auto summary = report()["summary"];
  EXPECT_EQ(summary["unexpected"], 0);
  EXPECT_EQ(summary["checks"], 4 * (2 * 5 + 2 * 5 + 2));
  EXPECT_GT(summary["fail"], 0);
  EXPECT_TRUE(report()["complete"].get<bool>());
  const Outcome valid = ropewalk_says("validate " + report_path());
  EXPECT_EQ(valid.code, 0) << valid.err;
}

TEST(Run, ARemovedExpectIsOne) { EXPECT_EQ(run(case_file("no_expect.json")).code, 1); }

TEST(Run, ACrashOfASubjectIsAVerdict) {
  EXPECT_EQ(run(case_file("programs.json")).code, 0);
  EXPECT_EQ(run(case_file("crash.json")).code, 3);
  EXPECT_THAT(report().dump(), HasSubstr("SIGSEGV"));
}

TEST(Run, WhatCouldNotHaveFailedIsUntrusted) {
  const Outcome outcome = run(case_file("dormant.json") + " --all-results");
  EXPECT_EQ(outcome.code, 0) << text_of(report_path());
}

TEST(Run, EveryRerunGivesTheSameNumbers) {
  ASSERT_EQ(run(case_file("small.json") + " --all-results").code, 0);
  const auto whole = report();
  for (std::size_t i = 0; i < whole["results"].size(); i += 7) {
    auto expected = whole["results"][i];
    const auto command = expected["rerun"].get<std::string>();
    ASSERT_EQ(command.rfind("ropewalk run ", 0), 0U);
    const Outcome again = run(command.substr(13) + " --all-results");
    EXPECT_EQ(again.code, 0) << again.err;
    ASSERT_EQ(report()["results"].size(), 1U) << command;
    auto got = report()["results"][0];
    for (auto* result : {&got, &expected}) {
      result->erase("unexpected");
      result->erase("expected");
    }
    EXPECT_EQ(got, expected) << command;
  }
}

TEST(Run, ListNamesEveryResultInOrder) {
  const Outcome list = ropewalk_says("list " + case_file("small.json"));
  ASSERT_EQ(run(case_file("small.json") + " --all-results").code, 0);
  std::string ids;
  const auto document = report();
  for (const auto& result : document["results"]) ids += result["id"].get<std::string>() + "\n";
  EXPECT_EQ(list.out, ids);
}

TEST(Run, ShardsAddUpToTheWhole) {
  const std::string file = case_file("small.json");
  const std::string whole = ropewalk_says("list " + file).out;
  std::size_t parts = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"})
    parts += lines(ropewalk_says("list --shard " + std::string(shard) + " " + file).out);
  EXPECT_EQ(parts, lines(whole));
}

TEST(Run, ARepeatedSubjectGivesTheSameBits) {
  EXPECT_EQ(run(case_file("small.json") + " --repeat 2").code, 0);
  EXPECT_THAT(report().dump(), HasSubstr("on-gpu~on-gpu#2"));
}

TEST(Run, ADeviceThatMustBeHereIsAnError) {
  if (ropewalk_says("devices").out.find("cuda          available") != std::string::npos)
    GTEST_SKIP() << "a GPU is here";
  const std::string file = (scratch() / "gpu.json").string();
  std::ofstream(file) << R"({"schema_version": 1, "name": "gpu", "cases": [{"name": "a",
    "rope": {"head_dim": 8, "base": 10000, "max_position": 8}, "dtype": "float32",
    "subjects": [{"recipe": "hf-llama-4.37", "device": "cuda"}],
    "checks": [{"relation": "accuracy", "allow_skip": ["device cuda"]}]}]})";
  EXPECT_EQ(run(file).code, 4) << "all skipped: nothing was compared";
  EXPECT_EQ(run(file + " --require-device cuda").code, 3);
}

// Peak memory of the largest child so far, MB.
double peak_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(Run, MemoryDoesNotGrowWithPositions) {
  const auto positions = [](std::int64_t count) {
    const std::string file = (scratch() / "long.json").string();
    std::ofstream(file) << R"({"schema_version": 1, "name": "long", "cases": [{"name": "a",
      "rope": {"head_dim": 128, "base": 500000, "max_position": )"
                        << count << R"(}, "dtype": "float32",
      "subjects": [{"recipe": "hf-llama-4.37", "device": "cuda-math"}], "checks": [{"relation": "accuracy"}]}]})";
    EXPECT_EQ(run(file).code, 0);
    return peak_of_children();
  };
  const double few = positions(4096), many = positions(262144);
  EXPECT_LT(many - few, 25) << "MB; 262,144 x 64 floats are 64 MB a stage";
}

TEST(Run, APartOfABareFailGroupIsNotJudged) {
  EXPECT_EQ(run(case_file("small.json") + " --filter 'head_dim=8.*identity.*cos'").code, 0);
}

TEST(Run, AMissingStageCostsOnlyItself) {
  const std::string file = (scratch() / "half.json").string();
  std::ofstream(file) << R"({"schema_version": 1, "name": "half", "cases": [{"name": "a",
    "rope": {"head_dim": 2, "base": 10000, "positions": [40, 2000, 16000, 131071]}, "dtype": "float32",
    "subjects": [{"name": "file", "tensors": ")" ROPEWALK_SOURCE_DIR R"(/cases/tensors/fast-intrinsics.safetensors"}],
    "checks": [{"relation": "accuracy", "stages": ["positions", "inv_freq", "angle"],
                "expect": [{"where": {"stage": "positions"}, "verdict": "skipped"}]}]}]})";
  EXPECT_EQ(run(file + " --all-results").code, 0) << text_of(report_path());
}

TEST(Run, AReportThatHasNoPlaceIsSaidBeforeTheWork) {
  const Outcome nowhere = ropewalk_says("run --quiet --report /dev/null/report.json " + case_file("small.json"));
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.err, "--report: /dev/null/report.json: cannot be written; a file in a folder that can be\n");
  const Outcome full = ropewalk_says("run --report /dev/full " + case_file("small.json"));
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.out, HasSubstr("of the limit")) << "the summary is not lost with the report";
}

TEST(Main, WhatNobodyGotIsNoSuccess) {
  const Outcome lost = shell(ROPEWALK_PROGRAM " validate " + case_file("small.json") + " > /dev/full");
  EXPECT_EQ(lost.code, 3);
  EXPECT_EQ(lost.err, "ropewalk: standard output cannot be written: No space left on device\n");
  EXPECT_EQ(shell(ROPEWALK_PROGRAM " validate " + case_file("small.json") + " >&-").code, 0);
}

TEST(Run, NothingToRunIsFour) {
  EXPECT_EQ(run(case_file("small.json") + " --filter nonsense").code, 4);
  EXPECT_EQ(run(case_file("small.json") + " --device cuda").code, 4);
}

// Runs a case whose second cell says in a file that it has begun, and does to the program then what `signals` says.
Outcome stopped_in_the_second_cell(const std::string& signals, int seconds_of_the_cell) {
  const std::string begun = (scratch() / "begun").string(), file = (scratch() / "slow.json").string();
  std::ofstream(file) << R"({"schema_version": 1, "name": "slow", "cases": [
    {"name": "first", "rope": {"head_dim": 8, "base": 10000, "max_position": 8}, "dtype": "float32",
     "subjects": [{"recipe": "hf-llama-4.37", "device": "cpu"}], "checks": [{"relation": "accuracy"}]},
    {"name": "second", "rope": {"head_dim": 8, "base": 10000, "max_position": 8}, "dtype": "float32",
     "subjects": [{"name": "slow", "program": ["sh", "-c", "read -r line; touch )"
                      << begun << "; sleep " << seconds_of_the_cell
                      << R"("]}], "checks": [{"relation": "accuracy", "expect": "error"}]},
    {"name": "third", "rope": {"head_dim": 8, "base": 10000, "max_position": 8}, "dtype": "float32",
     "subjects": [{"recipe": "hf-llama-4.37", "device": "cpu"}], "checks": [{"relation": "accuracy"}]}]})";
  std::filesystem::remove(report_path());
  std::filesystem::remove(begun);
  return shell(ROPEWALK_PROGRAM " run --quiet --all-results --jobs 1 --report " + report_path() + " " + file +
               " & until [ -e " + begun + " ] || ! kill -0 $!; do sleep 0.01; done; " + signals + "; wait $!");
}

TEST(Run, CtrlCLeavesAValidReportOfWhatFinished) {
  for (const auto& [signals, code] :
       {std::pair("kill -INT $!", 130), {"kill -TERM $!", 143}, {"kill -INT $!; sleep 0.01; kill -INT $!", 130}}) {
    const Outcome outcome = stopped_in_the_second_cell(signals, 2);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    ASSERT_TRUE(std::filesystem::exists(report_path())) << signals;
    const auto stopped = report();
    EXPECT_FALSE(stopped["complete"].get<bool>());
    EXPECT_EQ(ropewalk_says("validate " + report_path()).code, 0);
    EXPECT_EQ(stopped["summary"]["unexpected"], 0) << "what finished is judged as it is";
    EXPECT_THAT(stopped["results"].dump(), testing::AllOf(HasSubstr("first"), testing::Not(HasSubstr("third"))));
  }
}

TEST(Run, CtrlCDoesNotWaitForAProgramThatHangs) {
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(stopped_in_the_second_cell("kill -INT $!", 30).code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15));
  EXPECT_FALSE(report()["complete"].get<bool>());
}

// In the middle of attention, which is not looked at for a first one.
TEST(Run, ASecondCtrlCALittleLaterEndsItAtOnce) {
  const std::string begun = (scratch() / "begun").string(), file = (scratch() / "long.json").string();
  std::ofstream(file) << R"({"schema_version": 1, "name": "long", "cases": [{"name": "a", "dtype": "float32",
    "rope": {"head_dim": 128, "base": 10000, "max_position": 2048}, "attention": {"heads": 16, "kv_heads": 16},
    "subjects": [{"name": "first", "program": ["sh", "-c", "touch )"
                      << begun << R"("]}, {"recipe": "sdpa-math", "device": "cpu"}],
    "checks": [{"relation": "accuracy", "stages": ["output"]}]}]})";
  std::filesystem::remove(report_path());
  std::filesystem::remove(begun);
  const Outcome outcome =
      shell(ROPEWALK_PROGRAM " run --quiet --report " + report_path() + " " + file + " & until [ -e " + begun +
            " ] || ! kill -0 $!; do sleep 0.01; done; " + "sleep 1; kill -INT $!; sleep 2.1; kill -INT $!; wait $!");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(report_path()));
}

struct Wrong {
  const char* arguments;
  const char* says;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.arguments; }
class BadUse : public testing::TestWithParam<Wrong> {};

TEST_P(BadUse, IsOneLineAndTwo) {
  const Outcome outcome = ropewalk_says(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  EXPECT_EQ(lines(outcome.err), 1U) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    , BadUse,
    testing::Values(Wrong{"run nowhere.json", "nowhere.json"}, Wrong{"run " ROPEWALK_TEST_DIR, ROPEWALK_TEST_DIR},
                    Wrong{"run", "CASE_FILE"}, Wrong{"", "subcommand"}, Wrong{"dance", "dance"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --filter '('", "--filter"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --device gpu", "cpu, cuda, cuda-math"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --shard 4/3", "I/N"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --shard ''", "I/N"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --report " ROPEWALK_TEST_DIR
                          "/data/cases/small.json",
                          "another file"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --junit " ROPEWALK_TEST_DIR, "not a folder"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --seed=-1", "seed"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --jobs 0", "jobs"},
                    Wrong{"run " ROPEWALK_TEST_DIR "/data/cases/small.json --report /proc/x/y.json --quiet", "/proc/x"},
                    Wrong{"validate " ROPEWALK_TEST_DIR "/data/programs/family.sh", "family.sh"},
                    Wrong{"compare a.json b.json", "a.json"},
                    Wrong{"compare a.json b.json --growth nan", "nan: a finite number from 0 is needed"},
                    Wrong{"check --tensors a.npy --base nan", "nan: a finite number above 0 is needed"},
                    Wrong{"check --tensors a.npy --base 0", "0: a finite number above 0 is needed"},
                    Wrong{"check --tensors a.npy --partial-rotary-factor 0", "at most 1, is needed"}));

TEST(Compare, SameReportsAreZeroAndAWorseOneIsOne) {
  ASSERT_EQ(run(case_file("small.json")).code, 0);
  const std::string old_path = (scratch() / "old.json").string();
  std::filesystem::copy_file(report_path(), old_path, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(ropewalk_says("compare " + old_path + " " + report_path()).code, 0);
  auto worse = report();
  for (auto& result : worse["results"])
    if (result["relation"] == "accuracy") result["margin"] = 0.999;
  std::ofstream(report_path()) << worse;
  EXPECT_EQ(ropewalk_says("compare " + old_path + " " + report_path()).code, 1);
}

TEST(Inventory, DevicesRecipesAndFaultsAreListedAlsoAsJson) {
  for (const char* what : {"devices", "recipes", "faults"}) {
    EXPECT_EQ(ropewalk_says(what).code, 0);
    const Outcome json = ropewalk_says(std::string(what) + " --json");
    EXPECT_GT(nlohmann::json::parse(json.out).size(), 2U);
  }
}

// Every shipped case file and recipe is valid, and every known fault is caught where it enters.
TEST(Shipped, CasesAndRecipesAreValid) {
  const std::string cases = ROPEWALK_SOURCE_DIR "/cases";
  const Outcome outcome = ropewalk_says("validate " + cases + "/*.json " + cases + "/gpu/cuda.json " + cases +
                                        "/recipes/*.json " + cases + "/recipes/*/*.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string gpu = cases + "/gpu";  // with recipes of their own, as script/gpu names them
  const Outcome own = shell("ROPEWALK_RECIPES=" + gpu + "/recipes " ROPEWALK_PROGRAM " validate " + gpu +
                            "/tf32_*.json " + gpu + "/recipes/*.json");
  EXPECT_EQ(own.code, 0) << own.err;
}

TEST(Shipped, EveryFaultIsCaught) {
  const std::string cases = ROPEWALK_SOURCE_DIR "/cases/";
  const Outcome outcome = run(cases + "faults.json " + cases + "scaling.json " + cases + "axes.json --all-results");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> caught;
  const auto document = report();
  for (const auto& result : document["results"])
    if (result["verdict"] == "fail" || result["verdict"] == "error")  // of a dtype that must not be
      for (const auto& subject : result["subjects"])
        if (subject.contains("recipe")) caught.insert(subject["recipe"].get<std::string>());
  for (const auto& fault : nlohmann::json::parse(ropewalk_says("faults --json").out))
    EXPECT_TRUE(caught.contains(fault["name"].get<std::string>()))
        << fault["name"] << " is caught by none of cases/faults.json, scaling.json, axes.json";
}

TEST(Shipped, LongContextIsAsExpected) { EXPECT_EQ(run(ROPEWALK_SOURCE_DIR "/cases/long_context.json").code, 0); }

// One corner of the seed grid with all its claims; the whole grid is the main job.
TEST(Shipped, SeedClaimsHold) {
  const Outcome outcome =
      run(ROPEWALK_SOURCE_DIR "/cases/seed.json --filter 'head_dim=64,.*max_position=1024' --all-results");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto document = report();
  for (const auto& result : document["results"]) {
    if (result["relation"] != "identity") continue;
    const auto id = result["id"].get<std::string>();
    if (id.find("/proposal/") != std::string::npos) {
      EXPECT_EQ(result["measured"]["mismatched"], 0) << id;
    }
    if (id.find("/before/") != std::string::npos && id.find("on-cpu~on-gpu/sin") != std::string::npos) {
      EXPECT_GT(result["measured"]["max_abs"], 0) << id;
      EXPECT_EQ(result["first_stage"], "inv_freq") << id;
    }
  }
}

}  // namespace
}  // namespace ropewalk
