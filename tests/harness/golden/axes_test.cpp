// Golden tables of positions on several axes: what Arb gives for each pair's own position, and what a manifest may say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/golden/folders.hpp"
#include "tests/reference/arb_oracle.hpp"

namespace ropewalk::test {
namespace {

using reference::ArbReal;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCases = R"([
    {"name": "blocked", "rope": {"head_dim": 16, "base": 1000000, "mrope_section": [2, 3, 3],
     "positions": [{"tokens": [3, [2, 3, 4], 4]}, {"axes": [[9, 0, 131071], [9, 70000, 1], [9, 0, 16777215]]}]},
     "dtype": ["float32", "bfloat16", "float16", "float64"]},
    {"name": "interleaved", "rope": {"head_dim": 16, "base": 1000000, "mrope_section": [4, 2, 2], "mrope_interleaved": true,
     "positions": {"tokens": [1, [1, 4, 6]]}}, "dtype": "float32"},
    {"name": "axial", "rope": {"head_dim": 16, "base": 10000, "axial": true, "positions": {"tokens": [[5, 7]]}},
     "dtype": ["float32", "float16"]},
    {"name": "text", "rope": {"head_dim": 16, "base": 1000000, "mrope_section": [2, 3, 3], "positions": [0, 5, 4095]},
     "dtype": "float32"}])";

// The axis of each of the 8 pairs, written out.
std::vector<int> axes_in(const std::string& file) {
  if (file.starts_with("blocked")) return {0, 0, 1, 1, 1, 2, 2, 2};
  if (file.starts_with("interleaved")) return {0, 1, 2, 0, 1, 2, 0, 0};
  if (file.starts_with("axial")) return {0, 0, 0, 0, 1, 1, 1, 1};
  return {0, 0, 0, 0, 0, 0, 0, 0};
}

struct AxisTables {
  std::string file;
  std::vector<int> axes;
  std::map<std::string, Tensor> tensors;

  std::size_t pairs() const { return axes.size(); }
  double position(std::size_t row, std::size_t pair) const {
    const Tensor& positions = tensors.at("positions");
    const auto of_row = static_cast<std::size_t>(positions.shape().at(1));
    return to_doubles(positions)[row * of_row + static_cast<std::size_t>(axes[pair])];
  }
  ArbReal theta(std::size_t pair) const {
    if (file.starts_with("axial")) return ArbReal::power(1e4, 8, static_cast<int>(pair % 4));
    return ArbReal::power(1e6, 16, static_cast<int>(pair));
  }
  // Every element of cos and sin, these or the stored ones.
  void expect_arb(const std::string& which, const std::function<ArbReal(std::size_t)>& frequency) const {
    const Tensor &cosines = tensors.at(which + "cos"), &sines = tensors.at(which + "sin");
    const auto cos = to_doubles(cosines), sin = to_doubles(sines);
    const auto format = std::find(reference::kFormats.begin(), reference::kFormats.end(), format_of(cosines.dtype())) -
                        reference::kFormats.begin();
    for (std::size_t i = 0; i < cos.size(); ++i) {
      const double at = position(i / pairs(), i % pairs());
      if (at == 0) {
        EXPECT_EQ(cos[i], 1) << i;
        EXPECT_EQ(sin[i], 0) << i;
        continue;
      }
      ArbReal theta = frequency(i % pairs());
      const auto truth = judge(theta, static_cast<std::int64_t>(at), {sin[i], 0}, {cos[i], 0});
      EXPECT_EQ(cos[i], truth.cos.rounded[static_cast<std::size_t>(format)]) << which << "cos " << i;
      EXPECT_EQ(sin[i], truth.sin.rounded[static_cast<std::size_t>(format)]) << which << "sin " << i;
    }
  }
};

TEST(GoldenAxes, AreWhatArbGives) {
  const Folder folder;
  const GoldenTotals totals = write_cases(folder, kCases);
  EXPECT_EQ(totals.files, 12);
  EXPECT_EQ(totals.proof.undecided, 0);
  std::int64_t values = 0;
  for (const auto& entry : read_manifest(folder.path() / "out").entries) {
    SCOPED_TRACE(entry.file);
    const AxisTables tables{entry.file, axes_in(entry.file), read_safetensors(folder.path() / "out" / entry.file)};
    const auto stored = to_doubles(tables.tensors.at("stored.inv_freq"));
    tables.expect_arb("", [&](std::size_t j) { return tables.theta(j); });
    tables.expect_arb("stored.", [&](std::size_t j) { return ArbReal::exactly(stored[j]); });
    for (std::size_t j = 1; j < tables.pairs(); ++j) {
      if (stored[j] == 1) continue;  // the first pair of an axial axis
      ArbReal theta = tables.theta(j);
      EXPECT_EQ(stored[j], truth_of(theta).rounded[1]) << j;
    }
    for (const auto& [name, tensor] : tables.tensors) values += tensor.size();
  }
  EXPECT_EQ(totals.proof.fast + totals.proof.fallback + totals.proof.exact, values) << "every value counted once";
  EXPECT_THAT(wrong_in(folder.path() / "out"), IsEmpty());
}

// The positions that a manifest states are what its tables are made of, and so are its axes.
TEST(GoldenAxes, AnotherDefinitionInTheManifestIsFound) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 8, "mrope_section": [2, 2],
      "positions": {"tokens": [2, [3, 4]]}}, "dtype": "float32"},
     {"name": "b", "rope": {"head_dim": 8, "axial": true, "positions": {"tokens": [[3, 4]]}}, "dtype": "float32"}])");
  const auto manifest = folder.path() / "out" / kManifest;
  const std::string good = bytes_of_file(manifest);
  const auto with = [&](const std::string& changes) {
    std::ofstream(manifest) << changed(good.c_str(), changes.c_str()).dump();
    return complaint(folder, [&] {
      const auto wrong = wrong_in(folder.path() / "out");
      if (!wrong.empty()) throw BadInput("wrong", "", "", wrong[0]);
    });
  };
  EXPECT_EQ(with("{}"), "[no complaint]");
  const std::string first = "/files/0/parameters/", second = "/files/1/parameters/";
  for (const auto& [changes, why] : std::map<std::string, std::string>{
           {first + R"(axes/mrope_interleaved": true)", "cos[3, 1]: got "},
           {first + R"(axes/mrope_section": [1, 3])", "cos[3, 1]: got "},
           {first + R"(axes/mrope_section": [1, 2])", "numbers with the sum 4 are needed"},
           {first + R"(axes": {"type": "axial"})", "inv_freq[1]: got "},
           {first + R"(axes": {"type": "mrope"})", "axes.mrope_section: this field is missing"},
           {first + R"(axes": {"type": "axes"})", "mrope, axial"},
           {first + R"(axes": null)", "positions on 1 axes"},
           {first + R"(positions/axes/1": {"from": 0, "to": 13, "step": 1})", "positions[6, 1]: got "},
           {first + R"(positions/axes/1": [1, 2])", "as many positions as the first axis has, 14"},
           {first + R"(positions/axes": [[1], [2], [3]])", "positions on 2 axes"},
           {second + R"(rotary_dim": 6)", "a multiple of 4"},
           {second + R"(axes/mrope_section": [2, 2])", "either axial or mrope_section"}})
    EXPECT_THAT(with("{\"" + changes + "}"), HasSubstr(why)) << changes;
}

}  // namespace
}  // namespace ropewalk::test
