// harness/adapters: plain_python.py against values worked out elsewhere, and the example of its README.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/subjects/subject.hpp"
#include "tests/harness/subjects/problems.hpp"

namespace ropewalk {
namespace {

const char* const kAdapters = ROPEWALK_SOURCE_DIR "/harness/adapters";

Stages table(const Case& problem, const std::vector<std::string>& program = {"python3", "plain_python.py"}) {
  SubjectSpec spec;
  spec.program = program;
  spec.timeout_s = 20;
  const auto subject = make_program_subject(spec, kAdapters);
  subject->prepare(problem);
  return subject->rows(0, problem.positions.count());
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto all = tensor.as<T>();
  return {all.begin(), all.end()};
}

// Positions 0, 1, 2, frequencies 1 and 0.01. Decimals: cos 1 = 0.540302305868139717..., cos 0.01 =
// 0.999950000416665278..., cos 2 = -0.416146836547142387..., cos 0.02 = 0.999800006666577778..., and so on.
TEST(PlainPython, Float64) {
  const Stages got = table(two_pairs(DType::float64));
  EXPECT_EQ(values<double>(got.at("inv_freq")), (std::vector<double>{1, 0.01}));
  EXPECT_EQ(values<double>(got.at("angle")), (std::vector<double>{0, 0, 1, 0.01, 2, 0.02}));
  const std::vector<double> cosines{
      1, 1, 0.5403023058681398, 0.9999500004166653, -0.4161468365471424, 0.9998000066665778};
  const std::vector<double> sines{
      0, 0, 0.8414709848078965, 0.009999833334166664, 0.9092974268256817, 0.01999866669333308};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_DOUBLE_EQ(values<double>(got.at("cos"))[i], cosines[i]);
    EXPECT_DOUBLE_EQ(values<double>(got.at("sin"))[i], sines[i]);
  }
}

TEST(PlainPython, Float32) {
  const Stages got = table(two_pairs(DType::float32));
  EXPECT_EQ(values<std::uint32_t>(got.at("cos")),
            (std::vector<std::uint32_t>{0x3f800000, 0x3f800000, 0x3f0a5140, 0x3f7ffcb9, 0xbed51133, 0x3f7ff2e5}));
  EXPECT_EQ(values<std::uint32_t>(got.at("sin")),
            (std::vector<std::uint32_t>{0x0, 0x0, 0x3f576aa4, 0x3c23d657, 0x3f68c7b7, 0x3ca3d43e}));
  EXPECT_EQ(got.at("angle").dtype(), DType::float64);
}

TEST(PlainPython, BFloat16) {
  const Stages got = table(two_pairs(DType::bfloat16));
  EXPECT_EQ(values<std::uint16_t>(got.at("cos")),
            (std::vector<std::uint16_t>{0x3f80, 0x3f80, 0x3f0a, 0x3f80, 0xbed5, 0x3f80}));
  EXPECT_EQ(values<std::uint16_t>(got.at("sin")),
            (std::vector<std::uint16_t>{0x0, 0x0, 0x3f57, 0x3c24, 0x3f69, 0x3ca4}));
}

TEST(PlainPython, Float16) {
  const Stages got = table(two_pairs(DType::float16));
  EXPECT_EQ(values<std::uint16_t>(got.at("cos")),
            (std::vector<std::uint16_t>{0x3c00, 0x3c00, 0x3853, 0x3c00, 0xb6a9, 0x3c00}));
  EXPECT_EQ(values<std::uint16_t>(got.at("sin")),
            (std::vector<std::uint16_t>{0x0, 0x0, 0x3abb, 0x211f, 0x3b46, 0x251f}));
}

TEST(PlainPython, PositionsAndPartialWidth) {
  Case problem = two_pairs(DType::float64, {5, 131071});
  problem.rope.head_dim = 16;
  problem.rope.base = 500000;
  problem.rope.partial_rotary_factor = 0.25;
  const Stages got = table(problem);
  const double second = 0.001414213562373095;  // 1 / sqrt(500000)
  EXPECT_DOUBLE_EQ(values<double>(got.at("inv_freq"))[1], second);
  EXPECT_DOUBLE_EQ(values<double>(got.at("angle"))[3], 131071 * second);
  EXPECT_EQ(values<double>(got.at("angle"))[2], 131071);
}

TEST(AdapterReadme, TheExampleRuns) {
  std::ostringstream readme;
  readme << std::ifstream(std::string(kAdapters) + "/README.md").rdbuf();
  const std::string text = readme.str(), opening = "```python\n";
  const std::size_t start = text.find(opening) + opening.size();
  const std::string code = text.substr(start, text.find("```", start) - start);
  EXPECT_LE(std::count(code.begin(), code.end(), '\n'), 20);
  const Stages got = table(two_pairs(DType::float32), {"python3", "-c", code});
  EXPECT_TRUE(same_bits(got.at("cos"), table(two_pairs(DType::float32)).at("cos")));
  Case partial = two_pairs(DType::float32);
  partial.rope.head_dim = 8;
  partial.rope.partial_rotary_factor = 0.5;
  EXPECT_THROW(table(partial, {"python3", "-c", code}), SubjectUnsupported);
}

}  // namespace
}  // namespace ropewalk
