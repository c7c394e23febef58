#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "harness/subjects/subject.hpp"
#include "tests/harness/subjects/problems.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const char* const kPrograms = ROPEWALK_TEST_DIR "/data/programs";

SubjectSpec misbehaving(const std::string& mode, double timeout_s = 20, const std::string& argument = "") {
  SubjectSpec spec;
  spec.name = "it";
  spec.program = {"python3", "misbehave.py", mode, argument};
  spec.claims = "a-recipe";
  spec.timeout_s = timeout_s;
  return spec;
}

// What prepare() throws, with its kind before it.
std::string outcome(Subject& subject, const Case& problem) {
  try {
    subject.prepare(problem);
  } catch (const SubjectUnsupported& reason) {
    return std::string("unsupported: ") + reason.what();
  } catch (const SubjectError& reason) {
    return std::string("error: ") + reason.what();
  }
  return "ok";
}

struct Fault {
  const char* mode;
  const char* outcome;
  double timeout_s = 20;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.mode; }

class Misbehaviour : public ::testing::TestWithParam<Fault> {};

TEST_P(Misbehaviour, IsAnErrorWithTheReason) {
  const auto subject = make_program_subject(misbehaving(GetParam().mode, GetParam().timeout_s), kPrograms);
  const auto start = std::chrono::steady_clock::now();
  const std::string got = outcome(*subject, two_pairs(DType::float32));
  EXPECT_THAT(got, HasSubstr(GetParam().outcome));
  EXPECT_EQ(got.find('\n'), std::string::npos) << got;
  EXPECT_LT(got.size(), 700U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

INSTANTIATE_TEST_SUITE_P(
    All, Misbehaviour,
    ::testing::Values(
        Fault{"describe-protocol", "error: its answer to describe has not \"protocol\": 1"},
        Fault{"describe-without-ops", "error: its answer to describe has no list \"ops\""},
        Fault{"describe-odd-dtypes", "error: its answer to describe has something else than names in \"dtypes\""},
        Fault{"describe-error", "error: its answer to describe is not ok: \"no licence\""},
        Fault{"describe-exit",
              "error: it exited with code 4 instead of an answer; its last words on stderr: \"cannot "
              "import torch\""},
        Fault{"no-rope-table", "unsupported: the program does not offer rope_table"},
        Fault{"garbage", R"(error: its answer to rope_table is not a JSON object: "Loading model...\u0007")"},
        Fault{"invalid-utf8", "error: its answer to rope_table is not a JSON object"},
        Fault{"array", "error: its answer to rope_table is not a JSON object"},
        Fault{"no-status", "error: its answer to rope_table has no status out of ok, unsupported, error"},
        Fault{"odd-status", "error: its answer to rope_table has no status out of ok, unsupported, error"},
        Fault{"odd-message", "error: its answer to rope_table has a message that is not a text"},
        Fault{"wrong-id", "error: its answer to rope_table has another id than 1"},
        Fault{"text-id", "error: its answer to rope_table has another id than 1"},
        Fault{"unsupported", "unsupported: the program says: \"not this base\""},
        Fault{"error", "error: the program says: \"out of memory in process "},
        Fault{"sleep", "error: no answer within 1.5 s; its last words on stderr: \"still compiling\"", 1.5},
        Fault{"huge-line", "error: its answer is a line of more than 1 MiB"},
        Fault{"endless-line", "error: its answer is a line of more than 1 MiB"},
        Fault{"close-stdout", "error: it closed its standard output without an answer"},
        Fault{"exit",
              "error: it exited with code 3 instead of an answer; its last words on stderr: \"ValueError: bad "
              "weights\""},
        Fault{"exit-without-newline", "error: it exited with code 0 instead of an answer"},
        Fault{"segfault", "error: it was killed by SIGSEGV (signal 11)"},
        Fault{"exit-with-child", "error: it exited with code 5 instead of an answer"},
        Fault{"much-stderr",
              "error: it exited with code 1 instead of an answer; its last words on stderr: \"warning 19999"},
        Fault{"no-outputs", "error: it answered ok but wrote no file of outputs"},
        Fault{"folder-outputs", "error: it answered ok but wrote no file of outputs"},
        Fault{"damaged-outputs", "error: its outputs: header: 16 bytes: truncated"},
        Fault{"no-stage", "error: its outputs hold none of positions, inv_freq, angle, cos, sin"},
        Fault{"wrong-shape", "error: cos has shape [2, 3]; accepted: [3, 2]"},
        Fault{"transposed", "error: cos has shape [2, 3, 1]; accepted: [3, 2]"},
        Fault{"wrong-dtype", "error: cos is float64; accepted: float32, the dtype of the case"}),
    [](const auto& test) {
      std::string name = test.param.mode;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(Program, DeliversItsRows) {
  const auto subject = make_program_subject(misbehaving("none"), kPrograms);
  ASSERT_EQ(outcome(*subject, two_pairs(DType::float32)), "ok");
  const Stages block = subject->rows(1, 2);
  ASSERT_EQ(block.size(), 1U);
  EXPECT_EQ(block.at("cos").shape(), (Shape{2, 2}));
  EXPECT_EQ(to_doubles(block.at("cos")), (std::vector<double>{1, 1, 1, 1}));
}

TEST(Program, SaysWhoItIs) {
  const SubjectInfo info = make_program_subject(misbehaving("none"), kPrograms)->info();
  EXPECT_EQ(info.name, "it");
  EXPECT_EQ(info.program, "python3 misbehave.py none ");
  EXPECT_EQ(info.claims, "a-recipe");
  EXPECT_FALSE(info.emulated);
}

TEST(Program, ADTypeThatItDoesNotOfferIsSkippedWithoutAsking) {
  const auto subject = make_program_subject(misbehaving("segfault"), kPrograms);
  EXPECT_EQ(outcome(*subject, two_pairs(DType::float16)), "unsupported: the program does not offer float16");
}

TEST(Program, IsStartedAgainAfterACrash) {
  const TestFolder folder;
  const std::string marker = (folder.path / "crashed").string();
  const auto subject = make_program_subject(misbehaving("abort-once", 20, marker), kPrograms);
  EXPECT_THAT(outcome(*subject, two_pairs(DType::float32)), HasSubstr("killed by SIGABRT"));
  EXPECT_TRUE(subject->rows(0, 1).empty());
  EXPECT_EQ(outcome(*subject, two_pairs(DType::float32)), "ok");
  EXPECT_EQ(outcome(*subject, two_pairs(DType::float32)), "ok");
  EXPECT_EQ(subject->rows(0, 1).size(), 1U);
}

TEST(Program, IsNotStartedAgainAfterAnHonestError) {
  const auto subject = make_program_subject(misbehaving("error"), kPrograms);
  const std::string first = outcome(*subject, two_pairs(DType::float32));
  EXPECT_THAT(first, HasSubstr("out of memory in process"));
  EXPECT_EQ(outcome(*subject, two_pairs(DType::float32)), first);
}

TEST(Program, AnAnswerThatNobodyAskedForIsNotTakenForTheNextOne) {
  const auto subject = make_program_subject(misbehaving("ask-twice"), kPrograms);
  EXPECT_EQ(outcome(*subject, two_pairs(DType::float32)), "ok");
  EXPECT_THAT(outcome(*subject, two_pairs(DType::float32)), HasSubstr("has another id than 2"));
}

TEST(Program, MayWriteAfterItsAnswerWithoutHarmToUs) {
  const auto subject = make_program_subject(misbehaving("write-after"), kPrograms);
  for (int i = 0; i < 5; ++i) {
    const std::string got = outcome(*subject, two_pairs(DType::float32));
    if (got == "ok") {
      EXPECT_EQ(to_doubles(subject->rows(0, 3).at("cos")), std::vector<double>(6, 1.0));
    } else {
      EXPECT_THAT(got, HasSubstr("error: its outputs"));
    }
  }
}

TEST(Program, ThatIsNotThere) {
  SubjectSpec spec;
  spec.program = {"no-such-program-here", "x"};
  const auto subject = make_program_subject(spec, kPrograms);
  EXPECT_THAT(outcome(*subject, two_pairs(DType::float32)), HasSubstr("cannot start \"no-such-program-here\""));
  EXPECT_THAT(outcome(*make_program_subject(misbehaving("none"), "/no/such/folder"), two_pairs(DType::float32)),
              HasSubstr("no folder \"/no/such/folder\""));
}

TEST(Program, LeavesNoFiles) {
  const TestFolder folder;
  setenv("TMPDIR", folder.path.c_str(), 1);
  {
    const auto good = make_program_subject(misbehaving("none"), kPrograms);
    const auto bad = make_program_subject(misbehaving("damaged-outputs"), kPrograms);
    outcome(*good, two_pairs(DType::float32));
    outcome(*bad, two_pairs(DType::float32));
    EXPECT_FALSE(fs::is_empty(folder.path));
  }
  unsetenv("TMPDIR");
  EXPECT_TRUE(fs::is_empty(folder.path));
}

TEST(Program, ManyInParallel) {
  std::vector<std::jthread> threads;
  for (const char* mode : {"none", "segfault", "wrong-dtype", "none"})
    threads.emplace_back([mode] {
      const auto subject = make_program_subject(misbehaving(mode), kPrograms);
      for (int again = 0; again < 3; ++again)
        EXPECT_EQ(outcome(*subject, two_pairs(DType::float32)) == "ok", std::string(mode) == "none");
    });
}

}  // namespace
}  // namespace ropewalk
