// Golden tables are what Arb gives, and the same bytes however they are made.
#include "harness/golden/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/golden/folders.hpp"
#include "tests/reference/arb_oracle.hpp"
#include "tests/reference/scaling_oracle.hpp"

namespace ropewalk::test {
namespace {

using reference::ArbReal;

// Every `step`-th element of cos and sin against the oracle.
void expect_arb(const Tensor& cos, const Tensor& sin, const std::vector<double>& positions, std::int64_t step,
                const std::function<ArbReal(int)>& theta, ArbReal amplitude = ArbReal::exactly(1)) {
  const std::int64_t pairs = cos.shape()[1];
  const auto c = to_doubles(cos), s = to_doubles(sin);
  const auto format = std::find(reference::kFormats.begin(), reference::kFormats.end(), format_of(cos.dtype())) -
                      reference::kFormats.begin();
  for (std::int64_t i = 0; i < cos.size(); i += step) {
    const auto at = static_cast<std::size_t>(i);
    const double position = positions[static_cast<std::size_t>(i / pairs)];
    ArbReal frequency = theta(static_cast<int>(i % pairs));
    const auto turned = arb_is_zero(frequency.at(64)) == 0 && position != 0;
    const bool unscaled = arb_is_one(amplitude.at(64)) != 0;
    if (!turned) {
      EXPECT_EQ(c[at], unscaled ? 1 : truth_of(amplitude).rounded[static_cast<std::size_t>(format)]);
      EXPECT_EQ(s[at], 0);
      continue;
    }
    const auto truth = judge(frequency, amplitude, static_cast<std::int64_t>(position), {s[at], 0}, {c[at], 0});
    EXPECT_EQ(c[at], truth.cos.rounded[static_cast<std::size_t>(format)]) << "cos, element " << i;
    EXPECT_EQ(s[at], truth.sin.rounded[static_cast<std::size_t>(format)]) << "sin, element " << i;
  }
}

TEST(GoldenTable, IsWhatArbGives) {
  const Folder folder;
  write_cases(folder, R"([
    {"name": "dense", "rope": {"head_dim": 20, "base": [10000, 123456.789], "max_position": 700},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "far", "rope": {"head_dim": 20, "base": 10000, "positions": {"log_spaced": [1, 16777215], "count": 90}},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "few", "rope": {"head_dim": 20, "base": 10000, "positions": [131071]}, "dtype": "float32"}])");
  int files = 0;
  for (const auto& entry : read_manifest(folder.path() / "out").entries) {
    ++files;
    const auto tensors = read_safetensors(folder.path() / "out" / entry.file);
    const double base = entry.golden.parameters["base"];
    const auto positions = to_doubles(tensors.at("positions")), stored = to_doubles(tensors.at("stored.inv_freq"));
    const std::int64_t step = tensors.at("cos").size() / 300 + 1;
    expect_arb(tensors.at("cos"), tensors.at("sin"), positions, step,
               [&](int j) { return ArbReal::power(base, 20, j); });
    expect_arb(tensors.at("stored.cos"), tensors.at("stored.sin"), positions, step,
               [&](int j) { return ArbReal::exactly(stored[static_cast<std::size_t>(j)]); });
    for (int j = 1; j < 10; ++j) {
      ArbReal theta = ArbReal::power(base, 20, j);
      EXPECT_EQ(stored[static_cast<std::size_t>(j)], truth_of(theta).rounded[1]);
    }
  }
  EXPECT_EQ(files, 13);
}

TEST(GoldenTable, ScaledIsWhatArbGives) {
  const Folder folder;
  const auto file = folder.write("cases.json", R"({"schema_version": 1, "name": "golden", "cases": [
    {"name": "linear", "rope": {"head_dim": 20, "base": 10000, "scaling": "linear", "factor": [4, 3], "max_position": 70},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "dynamic", "rope": {"head_dim": 20, "base": 10000, "scaling": "dynamic", "factor": 2.5,
                                 "max_position_embeddings": [40, 4096], "max_position": 70}, "dtype": "float32"},
    {"name": "yarn", "rope": {"head_dim": 20, "base": 10000, "scaling": "yarn", "factor": 4, "mscale": 1,
                              "mscale_all_dim": 0.707, "original_max_position_embeddings": 64, "truncate": [true, false],
                              "positions": [0, 1, 100, 131071]}, "dtype": ["float32", "float16"]},
    {"name": "given", "rope": {"head_dim": 20, "base": 10000, "scaling": "yarn", "factor": 4, "attention_factor": 1.25,
                               "original_max_position_embeddings": 64, "positions": [0, 1, 100]}, "dtype": "bfloat16"},
    {"name": "longrope", "rope": {"head_dim": 8, "base": 10000, "scaling": "longrope", "short_factor": [[1, 1.5, 2, 3]],
                                  "long_factor": [[1, 5, 20, 30]], "original_max_position_embeddings": [4, 4096],
                                  "factor": 16, "positions": [0, 1, 1000]}, "dtype": ["float32", "bfloat16"]},
    {"name": "llama3", "rope": {"head_dim": 64, "base": 500000, "scaling": "llama3", "factor": 8, "low_freq_factor": 1,
                                "high_freq_factor": 4, "original_max_position_embeddings": 8192,
                                "positions": [0, 1, 8191, 131071]}, "dtype": ["float32", "bfloat16"]},
    {"name": "proportional", "rope": {"head_dim": 16, "base": 1000000, "scaling": "proportional", "proportion": 0.25,
                                      "positions": [0, 1, 131071]}, "dtype": "float32"}]})");
  const auto cells = read_golden_case_file(file);
  const GoldenTotals totals = write_goldens(cells, folder.path() / "out", 2, [] {});
  EXPECT_EQ(totals.proof.undecided, 0);
  EXPECT_EQ(totals.files, 22);
  for (const Case& cell : cells) {
    SCOPED_TRACE(cell.id);
    const auto tensors = read_safetensors(folder.path() / "out" / golden_file_name(cell.id));
    const auto positions = to_doubles(tensors.at("positions")), stored = to_doubles(tensors.at("stored.inv_freq"));
    auto exact = reference::scaled_reals(cell.rope.base, static_cast<int>(cell.rope.rotary_dim()), cell.rope.scaling);
    const auto amplitude = reference::amplitude_real(cell.rope.scaling);
    expect_arb(
        tensors.at("cos"), tensors.at("sin"), positions, 3, [&](int j) { return exact[static_cast<std::size_t>(j)]; },
        amplitude);
    expect_arb(
        tensors.at("stored.cos"), tensors.at("stored.sin"), positions, 3,
        [&](int j) { return ArbReal::exactly(stored[static_cast<std::size_t>(j)]); }, amplitude);
    for (std::size_t j = 1; j < exact.size(); ++j)
      EXPECT_EQ(stored[j], arb_is_zero(exact[j].at(64)) != 0 ? 0 : truth_of(exact[j]).rounded[1]) << j;
  }
  EXPECT_EQ(wrong_in(folder.path() / "out"), std::vector<std::string>{});
}

// The definition in the manifest is what is proved again: another one gives other bytes.
TEST(GoldenTable, AnotherScalingInTheManifestIsFound) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 8, "base": 10000, "scaling": "yarn", "factor": 4,
                           "original_max_position_embeddings": 64, "positions": [0, 1, 100]}, "dtype": "float32"}])");
  const auto manifest = folder.path() / "out" / kManifest;
  std::string text = bytes_of_file(manifest);
  const auto at = text.find("\"factor\": 4");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 11, "\"factor\": 5");
  std::ofstream(manifest) << text;
  EXPECT_FALSE(wrong_in(folder.path() / "out").empty());
  text.replace(at, 11, "\"factor\": 0");
  text.replace(text.find("\"type\": \"yarn\""), 14, "\"type\": \"yarns\"");
  std::ofstream(manifest) << text;
  EXPECT_THAT(complaint(folder, [&] { read_manifest(folder.path() / "out"); }), testing::HasSubstr("scaling.type"));
}

TEST(GoldenTable, StoredFrequenciesAreThoseOfFloat32) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 64, "base": 10000, "positions": [0, 131071]},
                           "dtype": "float32"}])");
  const auto tensors =
      read_safetensors(folder.path() / "out" / "a-head_dim=64,base=10000,positions=0;131071-float32.safetensors");
  EXPECT_TRUE(same_bits(tensors.at("inv_freq"), tensors.at("stored.inv_freq")));
  EXPECT_FALSE(same_bits(tensors.at("sin"), tensors.at("stored.sin"))) << "at 131071 the two definitions differ";
}

TEST(GoldenFolder, IsTheSameHoweverManyFilesAreMadeAtOnce) {
  const Folder folder;
  const char* cases = R"([{"name": "a", "rope": {"head_dim": [4, 6, 256], "base": 10000, "max_position": [3, 900]},
                           "dtype": ["float32", "float16"]}])";
  write_cases(folder, cases, 1, "one");
  write_cases(folder, cases, 4, "four");
  const auto one = bytes_of_folder(folder.path() / "one");
  EXPECT_EQ(one.size(), 13U);
  EXPECT_EQ(one, bytes_of_folder(folder.path() / "four"));
}

TEST(GoldenFolder, CountsEveryValueOnce) {
  const Folder folder;
  const GoldenTotals totals = write_cases(folder, kSmall);
  const auto& p = totals.proof;
  EXPECT_EQ(p.fast + p.fallback + p.exact, 5 + 2 + 5 * 2 * 2 + 2 + 5 * 2 * 2);
  EXPECT_EQ(p.undecided, 0);
  EXPECT_EQ(totals.tensors, 7);
  EXPECT_EQ(totals.bytes, static_cast<std::int64_t>(std::filesystem::file_size(folder.path() / "out" / kSmallFile)));
}

// Blocks of rows that are made one after the other, and rows that are made one by one.
TEST(GoldenTable, BlocksDoNotShow) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 2048, "base": 10000,
                           "positions": [{"from": 0, "to": 299}, [0, 63, 64, 65, 128, 298, 299]]}, "dtype": "float16"}])");
  const auto all =
      read_safetensors(folder.path() / "out" / "a-head_dim=2048,base=10000,positions=0..299-float16.safetensors");
  const auto some = read_safetensors(folder.path() / "out" /
                                     "a-head_dim=2048,base=10000,positions=0;63;64;65;128;298;299-float16.safetensors");
  const auto positions = some.at("positions").as<std::int64_t>();
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (const char* name : {"cos", "sin", "stored.cos", "stored.sin"})
      EXPECT_TRUE(same_bits(some.at(name).rows(static_cast<std::int64_t>(i), 1), all.at(name).rows(positions[i], 1)));
}

TEST(GoldenFolder, RefusesAFolderThatHoldsSomething) {
  const Folder folder;
  write_cases(folder, kSmall);
  EXPECT_THAT(complaint(folder, [&] { write_cases(folder, kSmall); }), testing::HasSubstr("new or empty"));
}

TEST(GoldenFolder, RefusesFrequenciesThatFloat32CannotHold) {
  const Folder folder;
  const char* cases =
      R"([{"name": "a", "rope": {"head_dim": 4, "base": 1e-90, "max_position": 5}, "dtype": "float32"}])";
  EXPECT_THAT(complaint(folder, [&] { write_cases(folder, cases); }), testing::HasSubstr("float32 can hold"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out" / kManifest)) << "what is not finished has no manifest";
}

}  // namespace
}  // namespace ropewalk::test
