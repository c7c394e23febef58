#include "harness/tensors/read_tensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/tensors/safetensors.hpp"
#include "tests/harness/tensors/damage.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ReadTensors : public ::testing::Test {
 protected:
  ReadTensors() {
    std::string name = (fs::temp_directory_path() / "ropewalk-read-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ReadTensors() override { fs::remove_all(folder_); }
  fs::path put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  std::string complaint(const std::string& name, const std::string& bytes) const {
    return complaint_of([&] { read_tensors(put(name, bytes)); });
  }
  fs::path folder_;
};

TEST_F(ReadTensors, TheContentDecides) {
  for (const char* name : {"version1.npy", "stored.npz", "deflated.npz", "state.pt", "lone.pt"}) {
    const std::string bytes = contents(test_file(name));
    EXPECT_EQ(read_tensors(put("dump.bin", bytes)).size(), read_tensors(test_file(name)).size()) << name;
    EXPECT_EQ(read_tensors(put("dump.safetensors.old", bytes)).size(), read_tensors(test_file(name)).size()) << name;
  }
  write_safetensors(folder_ / "dump.pt", {{"x", Tensor(DType::float8_e4m3fn, {3})}});
  EXPECT_EQ(read_tensors(folder_ / "dump.pt").at("x").dtype(), DType::float8_e4m3fn);
}

TEST_F(ReadTensors, FilesThatAreNone) {
  const std::string accepted = "not a file of tensors; accepted by their content: safetensors, .npy, .npz, .pt";
  EXPECT_THAT(complaint("dump.npz", ""), HasSubstr("dump.npz: " + accepted));
  EXPECT_THAT(complaint("dump.npy", "\x93NUM"), HasSubstr(accepted));
  EXPECT_THAT(complaint("dump.pt", "PK"), HasSubstr(accepted));
  EXPECT_THAT(complaint("dump.txt", "1.0 2.0 3.0\n"), HasSubstr(accepted));
  EXPECT_THAT(complaint("dump.safetensors", "1234567"), HasSubstr("truncated: 7 bytes"));
  EXPECT_THAT(complaint("dump.npz", "PK\3\4"), HasSubstr("damaged zip archive"));
  EXPECT_THAT(complaint("dump.pkl", "\x80\4N."), HasSubstr("a bare pickle"));
  EXPECT_THAT(complaint_of([&] { read_tensors(folder_ / "missing"); }), HasSubstr("no such file; a file of tensors"));
  EXPECT_THAT(complaint_of([&] { read_tensors(folder_); }), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace ropewalk
