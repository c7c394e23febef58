#include "harness/tensors/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/tensors/read_tensors.hpp"
#include "tests/harness/tensors/damage.hpp"

namespace ropewalk {
namespace {

using ::testing::HasSubstr;

struct Written {
  const char* stem;
  DType dtype;
  Shape shape;
};

TEST(Npy, WhatNumPyWrites) {
  for (const Written& file : {Written{"version1", DType::float32, {2, 3}},
                              {"version2", DType::float32, {2, 3}},
                              {"version3", DType::float32, {2, 3}},
                              {"fortran", DType::float64, {2, 3, 4}},
                              {"big_endian", DType::int32, {2, 3}},
                              {"big_endian_fortran", DType::complex64, {2, 3}},
                              {"scalar", DType::float32, {}},
                              {"empty", DType::int64, {0, 3}}}) {
    const auto tensors = read_tensors(test_file(file.stem + std::string(".npy")));
    ASSERT_EQ(tensors.size(), 1U);
    ASSERT_TRUE(tensors.contains(file.stem)) << tensors.begin()->first;
    const Tensor& tensor = tensors.at(file.stem);
    EXPECT_EQ(tensor.dtype(), file.dtype) << file.stem;
    EXPECT_EQ(tensor.shape(), file.shape) << file.stem;
    expect_made_values(tensor, file.stem);
  }
}

std::string refusal(const std::string& bytes) {
  return complaint_of([&] { read_npy(bytes_of_text(bytes)); });
}

TEST(Npy, WhatNumPyWritesButNoTensorHas) {
  const auto file_refusal = [](const char* name) { return complaint_of([&] { read_tensors(test_file(name)); }); };
  EXPECT_THAT(file_refusal("objects.npy"),
              HasSubstr(R"(objects.npy: descr: "|O": objects are pickled Python and are never)"));
  EXPECT_THAT(file_refusal("structures.npy"), HasSubstr("an array of structures"));
  EXPECT_THAT(file_refusal("texts.npy"), HasSubstr(R"(descr: "<U2": accepted: f8, f4,)"));
  EXPECT_THAT(file_refusal("bfloat16.npy"), HasSubstr("save those as safetensors"));
}

TEST(Npy, CutAnywhere) {
  for (const char* name : {"version1.npy", "version2.npy", "fortran.npy"}) {
    const std::string whole = contents(test_file(name));
    for (std::size_t length = 0; length < whole.size(); ++length)
      EXPECT_THAT(refusal(whole.substr(0, length)), HasSubstr("truncated")) << name << " cut at " << length;
    EXPECT_THAT(refusal(whole + "x"), HasSubstr("too long: shape and")) << name;
  }
}

// Version 1 with this header and so many bytes of data.
std::string made(const std::string& header, std::size_t data_bytes) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
         std::string(data_bytes, '\1');
}

TEST(Npy, HeadersByHand) {
  const Tensor old = read_npy(bytes_of_text(made("{\"shape\":(2L,),'fortran_order':False,'descr':'<i2'}", 4)));
  EXPECT_EQ(old.shape(), Shape{2});
  EXPECT_EQ(to_doubles(old), (std::vector<double>{0x101, 0x101}));
}

struct Fault {
  const char* header;
  std::size_t data;
  const char* complaint;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.header; }

class NpyHeader : public ::testing::TestWithParam<Fault> {};

TEST_P(NpyHeader, IsRefused) {
  EXPECT_THAT(refusal(made(GetParam().header, GetParam().data)), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, NpyHeader,
    ::testing::Values(
        Fault{"", 0, "'{' is needed"}, Fault{"{", 0, "a quoted text is needed"}, Fault{"{}", 0, "descr: missing"},
        Fault{"{'descr': '<f4', 'fortran_order': False}", 0, "shape: missing"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, "goes on after its closing brace"},
        Fault{"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, R"("descr": given twice)"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, R"("x": unknown)"},
        Fault{"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, "True or False"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", 4, "'(' is needed"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, "whole numbers of at least 0"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}", 4, "')' is needed"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0, "too large"},
        Fault{"{'descr': '<f4', 'fortran_order': True, 'shape': (4294967296, 4294967296)}", 0, "too large"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 0, "too large"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 4,
              R"(data: 4 bytes: truncated: shape and "<f4" need 8)"},
        Fault{"{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 4, "need 8"},
        Fault{"{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 8, "too long"},
        Fault{"{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}", 4, "no byte order"},
        Fault{"{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}", 4, R"("<u2": accepted)"},
        Fault{"{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}", 16, R"("<f16": accepted)"},
        Fault{"{'descr': '', 'fortran_order': False, 'shape': (1,)}", 4, R"("": accepted)"},
        Fault{"{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (1,)}", 4,
              "a quoted text is needed"}));

TEST(Npy, OtherVersions) {
  std::string bytes = made("{}", 0);
  bytes[6] = 4;
  EXPECT_THAT(refusal(bytes), HasSubstr("version: 4.0: accepted: 1.0, 2.0, 3.0"));
}

TEST(Npy, HeaderLongerThanTheFile) {
  std::string bytes = contents(test_file("version2.npy"));
  std::memset(bytes.data() + 8, 0xff, 4);
  EXPECT_THAT(refusal(bytes), HasSubstr("header: 4294967295 bytes: truncated"));
}

}  // namespace
}  // namespace ropewalk
