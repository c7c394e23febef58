// Whatever changes in a golden folder is found, and named.
#include "harness/golden/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/report/json.hpp"
#include "tests/harness/golden/folders.hpp"

namespace ropewalk::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Verify : public testing::Test {
 protected:
  Verify() { write_cases(folder_, kSmall); }
  std::filesystem::path out() const { return folder_.path() / "out"; }
  std::filesystem::path file() const { return out() / kSmallFile; }
  std::vector<std::string> wrong() const { return wrong_in(out()); }
  // With this text in place of the file.
  std::vector<std::string> wrong_with(const std::filesystem::path& path, const std::string& text) const {
    const std::string good = bytes_of_file(path);
    std::ofstream(path, std::ios::binary) << text;
    std::vector<std::string> lines;
    try {
      lines = wrong();
    } catch (const BadInput& e) {
      lines = {std::string("BadInput: ") + e.what()};
    }
    std::ofstream(path, std::ios::binary) << good;
    return lines;
  }
  std::vector<std::string> wrong_with_manifest(const char* changes) const {
    const auto path = out() / kManifest;
    return wrong_with(path, changed(bytes_of_file(path).c_str(), changes).dump());
  }

  Folder folder_;
};

std::string flipped(std::string text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  return text;
}

TEST_F(Verify, AFolderAsWrittenIsRight) { EXPECT_THAT(wrong(), IsEmpty()); }

TEST_F(Verify, ASingleFlippedBitIsFoundInItsTensor) {
  const std::string good = bytes_of_file(file());
  const auto layout =
      layout_of(read_manifest(out()).entries[0].golden, "golden/a/head_dim=4,base=10000,max_position=5/bfloat16");
  ASSERT_EQ(layout.size, good.size());
  std::size_t in_tensors = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    if (bit % (bit / 8 < layout.head.size() ? 43 : 3) != 0) continue;
    const auto lines = wrong_with(file(), flipped(good, bit));
    ASSERT_THAT(lines, Not(IsEmpty())) << "bit " << bit;
    if (bit / 8 < layout.head.size()) {
      EXPECT_THAT(lines[0], HasSubstr("header")) << bit;
      continue;
    }
    ++in_tensors;
    EXPECT_THAT(lines[0], HasSubstr("(1 of ")) << bit;
    EXPECT_THAT(lines[1], HasSubstr(": sha256 is ")) << bit;
    EXPECT_EQ(lines.size(), 2U) << bit;
  }
  EXPECT_EQ(in_tensors, 8 * (5 * 8 + 2 * 4 + 2 * 2 + 4 * 10 * 2) / 3);
}

TEST_F(Verify, NamesFileTensorIndexGotAndExact) {
  const auto manifest = read_manifest(out());
  const auto layout = layout_of(manifest.entries[0].golden, manifest.entries[0].case_id);
  // cos[1, 0] is cos(1) = 0.5403..., the bfloat16 0x3f0a; its sign bit.
  const std::size_t byte = layout.begin[2] + 2 * 2 + 1;
  EXPECT_THAT(wrong_with(file(), flipped(bytes_of_file(file()), 8 * byte + 7))[0],
              HasSubstr(std::string(kSmallFile) + ": cos[1, 0]: got -0x1.14p-1 (-0.5390625, bits 0xbf0a), exact "
                                                  "0x1.14p-1 (0.5390625, bits 0x3f0a) (1 of 10 elements differ)"));
}

TEST_F(Verify, AFlippedBitOfTheManifestIsFound) {
  const auto path = out() / kManifest;
  const std::string good = bytes_of_file(path);
  const std::size_t version = good.find(golden_version());
  for (std::size_t bit = 0; bit < 8 * (good.size() - 1); bit += 97) {  // the last byte is the end of the last line
    if (bit / 8 >= version && bit / 8 < version + golden_version().size()) continue;
    EXPECT_THAT(wrong_with(path, flipped(good, bit)), Not(IsEmpty())) << "bit " << bit << " of " << good;
  }
}

TEST_F(Verify, AnotherDefinitionGivesOtherValues) {
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/parameters/base": 10001})")[0], HasSubstr("inv_freq[1]: got "));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/parameters/dtype": "float16"})"), Not(IsEmpty()));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/parameters/positions": [0, 1, 2, 3, 5]})")[0],
              HasSubstr("positions[4]: got 0x1p+2 (4, bits 0x0000000000000004), exact 0x1.4p+2"));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/parameters/rotary_dim": 6})"), Not(IsEmpty()));
}

TEST_F(Verify, AChangedManifestIsNamedByField) {
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/tensors/2/sha256": "00"})"),
              ElementsAre(HasSubstr(R"(manifest.json: files[0].tensors[2].sha256: got "00", exact ")")));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/sha256": "00"})"), ElementsAre(HasSubstr("the manifest says 00")));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/tensors/2/shape": [5, 3]})"),
              ElementsAre(HasSubstr("shape[1]: got 3, exact 2")));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/tensors/2/proof/fast": 7})"),
              ElementsAre(HasSubstr("proof.fast: got 7")));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/tensors/2/formula": null})"),
              ElementsAre(HasSubstr("formula: this field is missing")));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/tensors/2/note": 1})"), ElementsAre(HasSubstr("note: unknown field")));
  EXPECT_THAT(wrong_with_manifest(R"({"/files/0/tensors": []})"), ElementsAre(HasSubstr("files[0].tensors: got")));
}

TEST_F(Verify, AManifestThatCannotBeFollowedIsBadInput) {
  for (const char* changes :
       {R"({"/schema_version": 2})", R"({"/files/0/kind": "rope_tables"})", R"({"/files/0/file": "../x.safetensors"})",
        R"({"/files/0/parameters/rotary_dim": 5})", R"({"/files/0/parameters/rotary_dim": 4000000})",
        R"({"/files/0/parameters/base": -1})", R"({"/files/0/parameters/base": 1e-300})",
        R"({"/files/0/parameters/positions/step": 0})", R"({"/files/0/parameters/positions/to": 1e300})",
        R"({"/files/0/parameters/positions/to": 1099511627776})", R"({"/files/0/parameters/extra": 1})",
        R"({"/files": []})", R"({"/generator/name": "other"})"})
    EXPECT_THAT(wrong_with_manifest(changes), ElementsAre(HasSubstr("BadInput: "))) << changes;
  EXPECT_THAT(wrong_with(out() / kManifest, "{"), ElementsAre(HasSubstr("syntax")));
  EXPECT_THAT(complaint(folder_, [&] { wrong_in(folder_.path() / "nowhere"); }), HasSubstr("no such file"));
}

TEST_F(Verify, FilesAreNeitherMissingNorMoreNorShorterNorLonger) {
  const std::string good = bytes_of_file(file());
  EXPECT_THAT(wrong_with(file(), good.substr(0, good.size() - 1)), testing::Contains(HasSubstr("ends early")));
  EXPECT_THAT(wrong_with(file(), good + "x")[0], HasSubstr("bytes, exact"));
  EXPECT_THAT(wrong_with(file(), ""), testing::Contains(HasSubstr("header")));
  folder_.write("out/more.txt", "x");
  EXPECT_THAT(wrong(), ElementsAre("more.txt: not in the manifest"));
  std::filesystem::remove(out() / "more.txt");
  std::filesystem::remove(file());
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("missing")));
  std::filesystem::create_symlink(file().filename(), file());  // to itself
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("missing, or cannot be read")));
  std::filesystem::remove(file());
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);  // nobody writes to it
  EXPECT_THAT(wrong(), ElementsAre(HasSubstr("missing, or cannot be read")));
}

TEST(Golden, NamesThatFileSystemsDoNotTakeAreRefusedBeforeAnythingIsMade) {
  const Folder folder;
  EXPECT_THAT(complaint(folder,
                        [&] {
                          write_cases(folder, R"([{"name": "a", "dtype": "float32",
    "rope": {"head_dim": 4, "base": 10000, "scaling": "linear", "factor": 1e-300, "max_position": 3}}])");
                        }),
              HasSubstr("its golden file would have a name of "));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

TEST_F(Verify, AnotherVersionIsSaid) {
  const auto path = out() / kManifest;
  const std::string other = changed(bytes_of_file(path).c_str(), R"({"/generator/version": "0.0.1"})").dump();
  std::ofstream(path) << other;
  EXPECT_THAT(wrong(), IsEmpty());
  EXPECT_EQ(read_manifest(out()).version, "0.0.1");
}

TEST(VerifyLora, IsAsDefinedAndAFlippedBitIsFound) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "lora": {"heads": 4, "groups": 2, "head_dim": 2, "embedding": 6, "r": 2,
      "alpha": 3, "enable": [[true, false, true], [true, true, true], [false, false, false]], "layout": "grouped",
      "batch": 1, "seq": 2}, "dtype": ["float32", "bfloat16"]}])");
  const auto out = folder.path() / "out";
  const Manifest manifest = read_manifest(out);
  ASSERT_EQ(manifest.entries.size(), 6U);
  EXPECT_THAT(wrong_in(out), IsEmpty());
  const auto path = out / manifest.entries[0].file;
  const auto tensors = read_safetensors(path);
  // The exact update by hand: row 0, the first of q's columns; q_0 stands at column 0.
  const auto x = to_doubles(tensors.at("x")), a = to_doubles(tensors.at("lora_a")),
             b = to_doubles(tensors.at("lora_b"));
  double delta = 0;
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < 6; ++i) delta += 1.5 * x[i] * a[6 * r + i] * b[r];
  EXPECT_NEAR(to_doubles(tensors.at("lora_delta"))[0], delta, 1e-6);
  EXPECT_EQ(to_doubles(tensors.at("lora_padded"))[0], to_doubles(tensors.at("lora_delta"))[0]);

  std::string bytes = bytes_of_file(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THAT(wrong_in(out)[0], testing::AllOf(HasSubstr("got "), HasSubstr("(1 of ")));
}

TEST(VerifyAttention, IsAsDefinedAndAFlippedBitIsFoundInEveryTensor) {
  const Folder folder;
  write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 4, "max_position": 3},
                           "attention": {"heads": 2, "kv_heads": 1, "causal": "top_left"}, "dtype": "bfloat16"}])");
  const auto out = folder.path() / "out";
  const Manifest manifest = read_manifest(out);
  EXPECT_THAT(wrong_in(out), IsEmpty());
  const ManifestEntry& entry = manifest.entries.at(0);
  const SafetensorsLayout layout = layout_of(entry.golden, entry.case_id);
  const std::string good = bytes_of_file(out / entry.file);
  for (std::size_t t = 0; t < entry.golden.tensors.size(); ++t) {
    const GoldenTensor& tensor = entry.golden.tensors[t];
    const std::size_t bits = 8 * static_cast<std::size_t>(element_count(tensor.shape)) * bytes_of(tensor.dtype);
    for (std::size_t bit = t; bit < bits; bit += 29) {
      std::ofstream(out / entry.file, std::ios::binary) << flipped(good, 8 * layout.begin[t] + bit);
      EXPECT_THAT(wrong_in(out)[0], testing::AllOf(HasSubstr(": " + tensor.name + "["), HasSubstr("(1 of ")));
    }
  }
}

TEST(VerifyBlocks, ThoseThatCannotBeFollowedAreBadInput) {
  const Folder folder;
  write_cases(folder, R"([
    {"name": "a", "rope": {"head_dim": 4, "max_position": 3}, "attention": {"heads": 2, "kv_heads": 1}, "dtype": "float32"},
    {"name": "l", "lora": {"heads": 2, "groups": 1, "head_dim": 2, "embedding": 3, "r": 1, "alpha": 1,
                           "enable": [true, true, true]}, "dtype": "float32"}])");
  const auto manifest = folder.path() / "out" / kManifest;
  const std::string good = bytes_of_file(manifest);
  const auto refusal = [&](const std::string& changes) {
    std::ofstream(manifest) << changed(good.c_str(), changes.c_str()).dump();
    return complaint(folder, [&] { read_manifest(folder.path() / "out"); });
  };
  for (const auto& [changes, why] : std::map<std::string, std::string>{
           {R"({"/files/0/parameters/attention/heads": [2, 4]})", "one value of this field"},
           {R"({"/files/0/parameters/attention/kv_heads": 3})", "a divisor of heads 2"},
           {R"({"/files/0/parameters/attention/causal": "left"})", "top_left"},
           {R"({"/files/0/parameters/rope/head_dim": 5})", "even rotary width"},
           {R"({"/files/0/parameters/rope/positions/to": 16777216})", "16777215"},
           {R"({"/files/0/parameters/attention/head": 2})", "unknown field"},
           {R"({"/files/0/parameters/seed": -1})", "not negative"},
           {R"({"/files/1/parameters/lora/groups": 4})", "a divisor of heads 2"},
           {R"({"/files/1/parameters/lora/enable": [true, true]})", "three flags"},
           {R"({"/files/1/parameters/lora/alpha": [1, 2]})", "one value of this field"},
           {R"({"/files/1/parameters/lora/scale": "r"})", "alpha/sqrt(r)"},
           {R"({"/files/1/parameters/dtype": "int64"})", "bfloat16"},
           {R"({"/files/0/parameters/attention": null})", "parameters.attention: this field is missing"},
           {R"({"/files/1/parameters/lora": null})", "parameters.lora: this field is missing"}})
    EXPECT_THAT(refusal(changes), HasSubstr(why)) << changes;
}

TEST(Golden, AttentionTooLargeToProveIsRefused) {
  const Folder folder;
  const auto written = [&](const std::string& positions, const std::string& dtype) {
    return complaint(folder, [&] {
      write_cases(folder, R"([{"name": "a", "rope": {"head_dim": 64, "max_position": )" + positions +
                              R"(}, "attention": {"heads": 32, "kv_heads": 8}, "dtype": ")" + dtype + R"("}])");
    });
  };
  EXPECT_THAT(written("46", "float64"),
              HasSubstr("4333568: batch x heads x queries x keys x head_dim of golden attention "
                        "in float64 is at most 4194304"));
  EXPECT_THAT(written("16777216", "bfloat16"), HasSubstr("in bfloat16 is at most 1073741824"));
}

TEST(Shipped, GoldensAreAsDefined) { EXPECT_THAT(wrong_in(ROPEWALK_SOURCE_DIR "/goldens"), IsEmpty()); }

TEST(Shipped, GoldensAreWhatTheirCaseFileGives) {
  const Folder folder;
  write_goldens(read_golden_case_file(ROPEWALK_SOURCE_DIR "/cases/goldens.json"), folder.path() / "out", 2, [] {});
  EXPECT_EQ(bytes_of_folder(folder.path() / "out"), bytes_of_folder(ROPEWALK_SOURCE_DIR "/goldens"));
}

}  // namespace
}  // namespace ropewalk::test
