#include "harness/tensors/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() {
    std::string name = (fs::temp_directory_path() / "safetensors-test-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    file_ = folder_ / "t.safetensors";
  }
  ~Safetensors() override { fs::remove_all(folder_); }

  // A file with this header and so many bytes of data.
  void put(const std::string& header, std::size_t data_bytes) {
    std::ofstream out(file_, std::ios::binary);
    const std::uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << header << std::string(data_bytes, '\1');
  }
  void put_bytes(const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; }
  std::string bytes() const {
    std::ostringstream text;
    text << std::ifstream(file_, std::ios::binary).rdbuf();
    return text.str();
  }
  std::string complaint() const {
    try {
      read_safetensors(file_);
    } catch (const BadInput& bad) {
      std::string what = bad.what();
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      EXPECT_EQ(what.rfind(file_.string(), 0), 0U) << what;
      return what;
    }
    return "no complaint";
  }

  fs::path folder_, file_;
};

std::map<std::string, Tensor> one_of_each() {
  std::map<std::string, Tensor> tensors;
  for (const DType dtype :
       {DType::float64, DType::float32, DType::bfloat16, DType::float16, DType::int64, DType::int32, DType::int16,
        DType::int8, DType::uint8, DType::boolean, DType::float8_e4m3fn, DType::float8_e5m2}) {
    Tensor tensor(dtype, {3, 1, 5});
    for (std::size_t i = 0; i < tensor.bytes().size(); ++i)
      tensor.bytes()[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : 37 * i + 11);
    tensors.emplace(name_of(dtype), tensor);
  }
  return tensors;
}

TEST_F(Safetensors, EveryDTypeRoundTrips) {
  auto tensors = one_of_each();
  tensors.emplace("scalar", Tensor(DType::float32, {}));
  tensors.emplace("nothing", Tensor(DType::int8, {0, 7}));
  write_safetensors(file_, tensors, {{"made", "for a test"}});
  const auto read = read_safetensors(file_);
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(read.contains(name)) << name;
    EXPECT_TRUE(same_bits(read.at(name), tensor)) << name;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.at(name).bytes().data()) % bytes_of(tensor.dtype()), 0U) << name;
  }
}

TEST_F(Safetensors, TheSameTensorsGiveTheSameBytes) {
  write_safetensors(file_, one_of_each(), {{"b", "2"}, {"a", "1"}});
  const std::string first = bytes();
  write_safetensors(file_, one_of_each(), {{"a", "1"}, {"b", "2"}});
  EXPECT_EQ(bytes(), first);
  std::uint64_t length = 0;
  std::memcpy(&length, first.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "temporary files are left";
}

TEST_F(Safetensors, TheBytesAreTheOnesOfTheFormat) {
  Tensor tensor(DType::float32, {1});
  tensor.as<float>()[0] = 1;
  write_safetensors(file_, {{"x", tensor}});
  const std::string header = R"({"x":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(bytes(), std::string(1, static_cast<char>(padded.size())) + std::string(7, '\0') + padded +
                         std::string("\0\0\x80\x3f", 4));
}

TEST_F(Safetensors, ReadsHeadersThatAreNotAligned) {
  put(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"I64","shape":[2],"data_offsets":[1,17]}} )",
      17);
  const Tensor tensor = read_safetensors(file_).at("x");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 8, 0U);
  EXPECT_EQ(tensor.as<std::int64_t>()[1], 0x0101010101010101);
}

TEST_F(Safetensors, TensorsOutliveTheFileAndAreOurOwn) {
  write_safetensors(file_, one_of_each());
  Tensor tensor = read_safetensors(file_).at("int64");
  const std::int64_t before = tensor.as<std::int64_t>()[0];
  tensor.as<std::int64_t>()[0] = 1;  // copy on write: the file keeps its bytes
  EXPECT_EQ(read_safetensors(file_).at("int64").as<std::int64_t>()[0], before);
  fs::remove(file_);
  EXPECT_EQ(tensor.as<std::int64_t>()[0], 1);
}

TEST_F(Safetensors, FilesThatAreNone) {
  EXPECT_THAT(complaint(), HasSubstr("no such file"));
  fs::create_directory(file_);
  EXPECT_THAT(complaint(), HasSubstr("not a regular file"));
  fs::remove(file_);
  put_bytes("");
  EXPECT_THAT(complaint(), HasSubstr("truncated: 0 bytes"));
  put_bytes("1234567");
  EXPECT_THAT(complaint(), HasSubstr("truncated: 7 bytes"));
}

TEST_F(Safetensors, DamagedFiles) {
  write_safetensors(file_, one_of_each());
  const std::string whole = bytes();
  for (const std::size_t cut : {std::size_t{1}, std::size_t{100}, whole.size() - 20}) {
    put_bytes(whole.substr(0, whole.size() - cut));
    EXPECT_THAT(complaint(), ::testing::AnyOf(HasSubstr("outside the file"), HasSubstr("truncated"))) << cut;
  }
  put_bytes(whole + "x");
  EXPECT_THAT(complaint(), HasSubstr("1 bytes at the end: belong to no tensor"));
  put_bytes(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10));  // 100000001
  EXPECT_THAT(complaint(), HasSubstr("accepted: at most 100000000"));
  put_bytes(std::string(8, '\xff') + "{}");
  EXPECT_THAT(complaint(), HasSubstr("accepted: at most 100000000"));
}

struct Fault {
  const char* header;
  std::size_t data;
  const char* complaint;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.header; }

class SafetensorsHeader : public Safetensors, public ::testing::WithParamInterface<Fault> {};

TEST_P(SafetensorsHeader, IsRefused) {
  put(GetParam().header, GetParam().data);
  EXPECT_THAT(complaint(), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SafetensorsHeader,
    ::testing::Values(
        Fault{"", 0, "not valid JSON"}, Fault{"[]", 0, "not a JSON object"}, Fault{"{\"a\":", 0, "not valid JSON"},
        Fault{"{\"\xff\":{}}", 0, "not valid JSON in UTF-8"}, Fault{R"({"a":[[[[[1]]]]]})", 0, "nested too deeply"},
        Fault{R"({"a":3})", 0, R"(tensor "a": 3: accepted: an object)"},
        Fault{R"({"a":{"dtype":"F32","shape":[1]}})", 4, R"(tensor "a": data_offsets: missing)"},
        Fault{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4, "other fields"},
        Fault{R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4, R"(tensor "a": dtype "F33": unknown)"},
        Fault{R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", 4, R"(tensor "a": dtype 7: unknown)"},
        Fault{R"({"a":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]}})", 4,
              R"(tensor "a": dtype "F8_E8M0": not supported by this version)"},
        Fault{R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8, "not supported by this version"},
        Fault{R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, R"(tensor "a": shape [-1])"},
        Fault{R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, R"(tensor "a": shape [1.0])"},
        Fault{R"({"a":{"dtype":"F32","shape":4,"data_offsets":[0,4]}})", 4, R"(tensor "a": shape 4)"},
        Fault{R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "too large"},
        Fault{R"({"a":{"dtype":"F32","shape":[0,18446744073709551615],"data_offsets":[0,0]}})", 0, "too large"},
        Fault{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "shape [2] of float32 needs 8 bytes"},
        Fault{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 8, "shape [1] of float32 needs 4 bytes"},
        Fault{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "needs 4 bytes"},
        Fault{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, "two whole numbers"},
        Fault{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})", 4, "two whole numbers"},
        Fault{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4, "outside the file"},
        Fault{
            R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[2],"data_offsets":[2,6]}})",
            6, R"(tensor "b": data_offsets [2,6]: overlaps)"},
        Fault{
            R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
            4, R"(tensor "b": data_offsets [0,4]: overlaps)"},
        Fault{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
              R"(tensor "a": data_offsets [4,8]: leaves a hole)"},
        Fault{
            R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
            4, R"(tensor "a": "a" is given twice)"},
        Fault{R"({"a":{"dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,4]}})", 4,
              R"("dtype" is given twice)"},
        Fault{R"({"a\nb":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4, R"(tensor "a\nb")"},
        Fault{R"({"__metadata__":{"a":1}})", 0, "__metadata__: accepted: an object of strings"}));

TEST_F(Safetensors, WhatCannotBeWritten) {
  EXPECT_THROW(write_safetensors(folder_ / "no" / "such.safetensors", one_of_each()), BadInput);
  fs::create_directory(file_);
  fs::create_directory(file_ / "full");
  EXPECT_THROW(write_safetensors(file_, one_of_each()), BadInput);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1) << "temporary files are left";
  EXPECT_THROW(write_safetensors(folder_ / "c", {{"c", Tensor(DType::complex64, {1})}}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(folder_ / "c", {{"__metadata__", Tensor(DType::int8, {1})}}), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk
