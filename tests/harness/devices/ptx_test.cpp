// What nvcc makes of the kernels: PTX instructions without .rn may still be fused by the assembler, those with .rn
// never (PTX ISA, mul and fma; CUDA Math API). So "no contraction" can be read off the PTX.
#include <cxxabi.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace ropewalk {
namespace {

using Instructions = std::vector<std::string>;        // "mul.rn.f32" and so on, in their order
using Entries = std::map<std::string, Instructions>;  // by the kernel's C++ name

std::string readable(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 ? text : symbol;
  std::free(text);
  return out;
}

// The first word of a line of code, after a predicate such as "@%p3 ".
std::string instruction(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find_first_of(" \t") + 1, line.size()));
  const auto end = line.find_first_of(" \t;");
  const bool is_code = end != std::string_view::npos && std::islower(static_cast<unsigned char>(line[0])) != 0;
  return is_code ? std::string(line.substr(0, end)) : std::string();
}

Entries read_ptx(const std::string& file) {
  Entries out;
  Instructions* entry = nullptr;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (const auto at = line.find(".entry "); at != std::string::npos)
      entry = &out[readable(line.substr(at + 7, line.find('(') - at - 7))];
    if (line == "}") entry = nullptr;
    if (!entry) continue;
    if (std::string found = instruction(line); !found.empty()) entry->push_back(std::move(found));
  }
  return out;
}

std::size_t count(const Instructions& in, const std::string& pattern) {
  const std::regex wanted(pattern);
  return static_cast<std::size_t>(
      std::count_if(in.begin(), in.end(), [&](const std::string& i) { return std::regex_match(i, wanted); }));
}

std::vector<std::string> files() {
  std::stringstream stream(ROPEWALK_PTX);
  std::vector<std::string> out;
  for (std::string file; std::getline(stream, file, ':');) out.push_back(file);
  return out;
}

class Ptx : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const std::string& file : files()) all_.push_back(read_ptx(file));
  }
  void SetUp() override {
    if (files().empty()) GTEST_SKIP() << "no nvcc: there is no PTX to look at";
    for (const Entries& entries : all_) ASSERT_EQ(entries.size(), 40U);
  }

  // Every kernel whose C++ name has all of these words, in every architecture; there is at least one.
  template <class F>
  void each(const std::vector<std::string>& words, F look) const {
    for (const Entries& entries : all_) {
      int seen = 0;
      for (const auto& [name, instructions] : entries) {
        if (!std::all_of(words.begin(), words.end(),
                         [&, &in = name](const std::string& word) { return in.find(word) != std::string::npos; }))
          continue;
        ++seen;
        SCOPED_TRACE(name);
        look(instructions);
      }
      EXPECT_GT(seen, 0) << testing::PrintToString(words);
    }
  }

  static inline std::vector<Entries> all_;
};

constexpr const char* kFloatAddMul =
    R"((mul|add|sub)(\.[a-z]+)*\.f(16|32|64)(x2)?|(mul|add|sub)(\.[a-z]+)*\.bf16(x2)?)";
constexpr const char* kRounded = R"((mul|add|sub)\.rn\.f32)";
constexpr const char* kFused = R"((fma|mad)(\.[a-z]+)*\.(f|bf)\d+(x2)?)";

// Rotate<T, pairing, contraction, source>: contraction 0 is none, source 0 a table.
TEST_F(Ptx, RotationsWithoutContractionAreAllRoundedEach) {
  for (const char* type : {"Rotate<float,", "Bfloat16,", "Float16,"})
    for (const char* pairing : {"(ropewalk::kernels::Pairing)0", "(ropewalk::kernels::Pairing)1"})
      each({"Rotate<", type, pairing, "(ropewalk::kernels::Contraction)0", "(ropewalk::kernels::AngleSource)0"},
           [](const Instructions& in) {
             EXPECT_EQ(count(in, kRounded), 6U);  // four products, a difference, a sum
             EXPECT_EQ(count(in, kFloatAddMul), 6U);
             EXPECT_EQ(count(in, kFused), 0U);
           });
}

TEST_F(Ptx, RotationsWithContractionFuseWhereTheySay) {
  for (const char* pairing : {"(ropewalk::kernels::Pairing)0", "(ropewalk::kernels::Pairing)1"})
    each({"Rotate<", pairing, "(ropewalk::kernels::Contraction)1", "(ropewalk::kernels::AngleSource)0"},
         [](const Instructions& in) {
           EXPECT_EQ(count(in, R"(fma\.rn\.f32)"), 2U);
           EXPECT_EQ(count(in, kFused), 2U);
           EXPECT_EQ(count(in, kRounded), 2U);  // the products with the sine
           EXPECT_EQ(count(in, kFloatAddMul), 2U);
         });
}

// sincosf is inlined there, and has instructions of its own: those of the table that it alone makes, beside the product
// of position and frequency, which both have.
TEST_F(Ptx, RotationsWithTheirTableAddOnlyRoundedInstructions) {
  for (const Entries& entries : all_) {
    const auto table = std::find_if(entries.begin(), entries.end(), [](const auto& entry) {
      return entry.first.find("Table<(ropewalk::kernels::TableWay)0>") != std::string::npos;
    });
    ASSERT_NE(table, entries.end());
    int seen = 0;
    for (const auto& [name, in] : entries) {
      if (name.find("(ropewalk::kernels::AngleSource)1") == std::string::npos) continue;
      const bool fma = name.find("(ropewalk::kernels::Contraction)1") != std::string::npos;
      ++seen;
      EXPECT_EQ(count(in, kRounded) - count(table->second, kRounded), fma ? 2U : 6U) << name;
      EXPECT_EQ(count(in, kFloatAddMul) - count(table->second, kFloatAddMul), fma ? 2U : 6U) << name;
      EXPECT_EQ(count(in, kFused) - count(table->second, kFused), fma ? 2U : 0U) << name;
    }
    EXPECT_EQ(seen, 12);
  }
}

constexpr const char* kApproximate = R"((sin|cos)\.approx(\.ftz)?\.f32)";

TEST_F(Ptx, FastTablesApproximate) {
  for (const char* way : {"Table<(ropewalk::kernels::TableWay)5>", "Table<(ropewalk::kernels::TableWay)6>"})
    each({way}, [](const Instructions& in) { EXPECT_EQ(count(in, kApproximate), 2U); });
}

TEST_F(Ptx, NothingElseApproximates) {
  for (const Entries& entries : all_)
    for (const auto& [name, in] : entries) {
      if (name.find("TableWay)5") != std::string::npos || name.find("TableWay)6") != std::string::npos) continue;
      EXPECT_EQ(count(in, R"([a-z0-9]+\.approx.*)"), 0U) << name;
      EXPECT_EQ(count(in, R"(.*\.ftz\..*)"), 0U) << name;
    }
}

// TableWay 1 to 4: turns, turns_fused, phase, phase_fused; their reductions are in float64.
TEST_F(Ptx, ReductionsFuseWhereTheySay) {
  for (const auto& [way, rounded, fused] : {std::tuple{1, 4U, 0U}, {2, 3U, 1U}, {3, 6U, 0U}, {4, 2U, 2U}})
    each({"Table<(ropewalk::kernels::TableWay)" + std::to_string(way) + ">"}, [&](const Instructions& in) {
      EXPECT_EQ(count(in, R"((mul|add|sub)\.rn\.f64)"), rounded);
      EXPECT_EQ(count(in, R"(fma\.rn\.f64)"), fused);
    });
}

}  // namespace
}  // namespace ropewalk
