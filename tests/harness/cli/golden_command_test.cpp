// `ropewalk golden` as a user runs it, and what docs/goldens.md shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstring>

#include "tests/harness/cli/documents.hpp"
#include "tests/harness/cli/program.hpp"

namespace ropewalk {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kDocument = ROPEWALK_SOURCE_DIR "/docs/goldens.md";

fs::path fresh(const std::string& name) {
  const fs::path path = scratch() / name;
  fs::remove_all(path);
  return path;
}

std::string cases_of(const std::string& rope) {
  const fs::path file = scratch() / "cases.json";
  std::ofstream(file) << R"({"schema_version": 1, "name": "golden", "cases": [{"name": "a", "rope": )" << rope
                      << R"(, "dtype": ["float32", "float16"]}]})";
  return file.string();
}

TEST(Golden, WritesAndProvesAFolder) {
  const fs::path out = fresh("out");
  const std::string file = cases_of(R"({"head_dim": 8, "max_position": 9})");
  const Outcome written = ropewalk_says("golden " + file + " --out " + out.string());
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("2 files, 14 tensors"));
  const Outcome proved = ropewalk_says("golden --verify " + out.string());
  EXPECT_EQ(proved.code, 0) << proved.out;
  EXPECT_THAT(proved.out, HasSubstr("as defined"));
  EXPECT_EQ(ropewalk_says("validate " + file).code, 0);
  EXPECT_EQ(ropewalk_says("run " + file).code, 2) << "nothing is under test";

  std::ofstream(out / "a-head_dim=8,max_position=9-float32.safetensors", std::ios::app) << "x";
  const Outcome wrong = ropewalk_says("golden --verify " + out.string());
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("NOT as defined"));
}

TEST(Golden, WrongUseIsTwo) {
  const std::string file = cases_of(R"({"head_dim": 8, "max_position": 9})");
  const std::vector<std::string> wrong{"",
                                       file,
                                       "--out " + fresh("out").string(),
                                       file + " --verify x",
                                       "--verify /nowhere",
                                       file + " --out /proc/x",
                                       file + " --out " ROPEWALK_SOURCE_DIR,
                                       "nowhere.json --out " + fresh("out").string()};
  for (const std::string& arguments : wrong) {
    const Outcome outcome = ropewalk_says("golden " + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments << outcome.out;
    EXPECT_FALSE(outcome.err.empty()) << arguments;
  }
}

// Peak memory of the largest child so far, MB.
double peak_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(Golden, MemoryDoesNotGrowWithPositions) {
  const auto peak = [](const std::string& positions) {
    const fs::path out = fresh("out");
    const std::string file = cases_of(R"({"head_dim": 128, "max_position": )" + positions + "}");
    EXPECT_EQ(ropewalk_says("golden " + file + " --out " + out.string()).code, 0);
    EXPECT_EQ(ropewalk_says("golden --verify " + out.string()).code, 0);
    fs::remove_all(out);
    return peak_of_children();
  };
  const double few = peak("4096"), many = peak("65536");
  EXPECT_LT(many - few, 15) << "MB; 65,536 positions are 67 MB in float32";
}

TEST(GoldenDocument, ItsCaseFileIsOne) {
  const fs::path file = scratch() / "doc.json";
  std::ofstream(file) << blocks(kDocument, "json").at(0);
  const Outcome outcome = ropewalk_says("validate " + file.string());
  EXPECT_THAT(outcome.out, HasSubstr("4 files")) << outcome.err;
}

TEST(GoldenDocument, ItsCommandsRun) {
  const std::string commands = blocks(kDocument, "sh").at(0);
  const fs::path folder = fresh("doc");
  fs::create_directories(folder);
  fs::create_directory_symlink(ROPEWALK_SOURCE_DIR "/cases", folder / "cases");
  std::ofstream(folder / "commands.sh") << "set -e\nropewalk() { " ROPEWALK_PROGRAM " \"$@\"; }\n" << commands;
  EXPECT_EQ(shell("cd " + folder.string() + " && sh commands.sh").code, 0);
  EXPECT_TRUE(fs::exists(folder / "my-goldens/manifest.json"));
}

TEST(GoldenDocument, ItsLineOfAFlippedBitIsTheOneThatIsPrinted) {
  const fs::path out = fresh("flipped");
  fs::copy(ROPEWALK_SOURCE_DIR "/goldens", out);
  const std::string line = blocks(kDocument, "text").at(0);
  const fs::path file = out / line.substr(0, line.find(": "));
  std::string bytes = text_of(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::size_t start = 8 + length;
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  const std::size_t begin = header["cos"]["data_offsets"][0], pairs = header["cos"]["shape"][1];
  bytes[start + begin + 4 * pairs] ^= 1;
  std::ofstream(file, std::ios::binary) << bytes;
  const Outcome outcome = ropewalk_says("golden --verify " + out.string());
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr(line));
}

// The interpreter that script/setup gave numpy and safetensors; where it was told to install no wheels, the machine's.
std::string interpreter() {
  const std::string own = ROPEWALK_SOURCE_DIR "/build/venv/bin/python";
  return fs::exists(own) ? own : "python3";
}

bool has_numpy() { return shell(interpreter() + " -c 'import numpy, safetensors.numpy'").code == 0; }

Outcome python(const std::string& code) {
  const fs::path file = scratch() / "example.py";
  std::ofstream(file) << code;
  return shell("cd " ROPEWALK_SOURCE_DIR " && " + interpreter() + " " + file.string());
}

TEST(GoldenDocument, PythonLoadsThem) {
  const Outcome outcome = python(blocks(kDocument, "python").at(0));
  EXPECT_EQ(outcome.out, blocks(kDocument, "text").at(1)) << outcome.err;
}

TEST(GoldenDocument, NumpyLoadsThem) {
  if (!has_numpy()) GTEST_SKIP() << "numpy and safetensors are not installed here";
  const Outcome outcome = python(blocks(kDocument, "python").at(1));
  EXPECT_EQ(outcome.out, blocks(kDocument, "text").at(1)) << outcome.err;
}

TEST(GoldenDocument, AScoreIsWhatPythonGives) {
  const Outcome outcome = python(blocks(kDocument, "python").at(0) + blocks(kDocument, "python").at(2));
  EXPECT_EQ(outcome.out, blocks(kDocument, "text").at(1) + blocks(kDocument, "text").at(2)) << outcome.err;
}

TEST(GoldenDocument, AttentionInNumpyIsWithinItsRoundings) {
  if (!has_numpy()) GTEST_SKIP() << "numpy and safetensors are not installed here";
  const Outcome outcome = python(blocks(kDocument, "python").at(3));
  EXPECT_EQ(outcome.out, blocks(kDocument, "text").at(3)) << outcome.err;
}

TEST(GoldenDocument, CppLoadsThem) {
  EXPECT_EQ(blocks(kDocument, "cpp").at(0), text_of(ROPEWALK_TEST_DIR "/harness/golden/load_golden.cpp"));
  const Outcome outcome = shell("cd " ROPEWALK_SOURCE_DIR " && " ROPEWALK_LOAD_GOLDEN);
  EXPECT_EQ(outcome.out, blocks(kDocument, "text").at(1)) << outcome.err;
}

}  // namespace
}  // namespace ropewalk
