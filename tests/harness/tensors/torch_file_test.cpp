#include "harness/tensors/torch_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/tensors/read_tensors.hpp"
#include "tests/harness/tensors/damage.hpp"

namespace ropewalk {
namespace {

using ::testing::HasSubstr;

TEST(TorchFile, WhatPyTorchWrites) {
  for (const char* file : {"state.pt", "protocol4.pt", "protocol5.pt"}) {
    auto tensors = read_tensors(test_file(file));
    EXPECT_EQ(tensors.size(), 25U) << file;
    for (const char* dtype : {"float64", "float32", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8",
                              "bool", "complex64", "float8_e4m3fn", "float8_e5m2"})
      EXPECT_EQ(name_of(tensors.at(std::string("dtypes.") + dtype).dtype()), dtype);
    EXPECT_EQ(tensors.at("transposed").shape(), (Shape{3, 2}));
    EXPECT_EQ(tensors.at("permuted").shape(), (Shape{2, 3, 4}));
    EXPECT_EQ(tensors.at("tail").shape(), (Shape{2, 3}));
    EXPECT_EQ(tensors.at("every_second").shape(), (Shape{6}));
    EXPECT_EQ(tensors.at("scalar").shape(), Shape{});
    EXPECT_EQ(tensors.at("empty").shape(), (Shape{0, 3}));
    EXPECT_EQ(to_doubles(tensors.at("repeated")), (std::vector<double>{-2, -1, 0, -2, -1, 0, -2, -1, 0, -2, -1, 0}));
    EXPECT_EQ(to_doubles(tensors.at("shared.1")), (std::vector<double>{1, 2, 3}));
    for (const char* made_otherwise : {"repeated", "shared.1"}) tensors.erase(made_otherwise);
    for (const auto& [name, tensor] : tensors) expect_made_values(tensor, name);
    EXPECT_EQ(tensors.at("shared.0").bytes().data(), tensors.at("shared.2").bytes().data()) << "one storage, read once";
  }
}

TEST(TorchFile, OneTensorIsNamedByTheFile) {
  const auto tensors = read_tensors(test_file("lone.pt"));
  ASSERT_EQ(tensors.size(), 1U);
  expect_made_values(tensors.at("lone"), "lone");
}

TEST(TorchFile, TheStateOfAModule) {
  const auto tensors = read_tensors(test_file("module.pt"));
  ASSERT_EQ(tensors.size(), 2U);
  expect_made_values(tensors.at("inner.weight"), "weight");
  expect_made_values(tensors.at("inner.bias"), "bias");
}

TEST(TorchFile, CodeIsNeverRun) {
  const std::filesystem::path trace = "/tmp/ropewalk-was-here";
  std::filesystem::remove(trace);
  for (const char* file : {"code.pt", "code4.pt"})
    EXPECT_THAT(complaint_of([&] { read_tensors(test_file(file)); }),
                HasSubstr(R"(data.pkl": pickle: global "posix.system": refused: nothing of a file is run)"));
  EXPECT_FALSE(std::filesystem::exists(trace));
  EXPECT_THAT(complaint_of([&] { read_tensors(test_file("whole_module.pt")); }),
              HasSubstr(R"(global "torch.nn.modules.container.Sequential": refused)"));
  EXPECT_THAT(complaint_of([&] { read_tensors(test_file("sparse.pt")); }),
              HasSubstr(R"(global "torch._utils._rebuild_sparse_tensor": refused)"));
}

TEST(TorchFile, TheFormatBefore16) {
  EXPECT_THAT(
      complaint_of([&] { read_tensors(test_file("before_1.6.pt")); }),
      HasSubstr("a bare pickle, as PyTorch wrote before 1.6, is not read; convert it where you trust it: python"));
}

// A small assembler of pickles.
std::string whole(std::int32_t value) { return "J" + std::string(reinterpret_cast<const char*>(&value), 4); }
std::string wide(std::int64_t value) { return "\x8a\x08" + std::string(reinterpret_cast<const char*>(&value), 8); }
std::string text(const std::string& value) {
  const auto size = static_cast<std::uint32_t>(value.size());
  return "X" + std::string(reinterpret_cast<const char*>(&size), 4) + value;
}
std::string tuple(const std::vector<std::string>& items) {
  std::string all = "(";
  for (const std::string& item : items) all += item;
  return all + "t";
}
std::string wides(const std::vector<std::int64_t>& values) {
  std::vector<std::string> items(values.size());
  std::transform(values.begin(), values.end(), items.begin(), wide);
  return tuple(items);
}
const std::string kDict = "ccollections\nOrderedDict\n)R";
std::string storage(const std::string& type, std::int64_t elements, const std::string& key = "0") {
  return tuple({text("storage"), "c" + type + "\n", text(key), text("cpu"), wide(elements)}) + "Q";
}
const std::string kFloats = storage("torch\nFloatStorage", 6);
std::string tensor(const std::string& where, const std::string& offset, const std::string& shape,
                   const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n" + tuple({where, offset, shape, strides, "\x89", kDict}) + "R";
}
std::string file(const std::string& operations, std::size_t storage_bytes = 24) {
  return zip_of({{"x/data.pkl", "\x80\2" + operations + "."},
                 {"x/byteorder", "little"},
                 {"x/data/0", std::string(storage_bytes, '\1')}});
}
std::map<std::string, Tensor> read(const std::string& bytes) {
  return read_torch_file(ZipArchive(bytes_of_text(bytes)), "lone");
}
std::string refusal(const std::string& operations, std::size_t storage_bytes = 24) {
  return complaint_of([&] { read(file(operations, storage_bytes)); });
}

TEST(TorchFile, MadeByHand) {
  const auto tensors = read(file("}(" + text("a.b") + tensor(kFloats, whole(0), wides({2, 3}), wides({3, 1})) + "u"));
  EXPECT_EQ(tensors.at("a.b").shape(), (Shape{2, 3}));
}

TEST(TorchFile, NothingOutsideAStorage) {
  const auto placed = [](std::int64_t offset, const std::vector<std::int64_t>& shape,
                         const std::vector<std::int64_t>& strides) {
    return refusal(tensor(kFloats, wide(offset), wides(shape), wides(strides)));
  };
  EXPECT_EQ(placed(0, {2, 3}, {3, 1}), "no complaint");
  EXPECT_THAT(placed(1, {2, 3}, {3, 1}), HasSubstr("tensor: element 6: outside its storage, which has 6"));
  EXPECT_THAT(placed(0, {2, 3}, {4, 1}), HasSubstr("element 6: outside"));
  EXPECT_THAT(placed(0, {7}, {1}), HasSubstr("element 6: outside"));
  EXPECT_THAT(placed(6, {}, {}), HasSubstr("element 6: outside"));
  EXPECT_THAT(placed(-1, {2}, {1}), HasSubstr("storage offset: accepted"));
  EXPECT_THAT(placed(5, {2}, {-1}), HasSubstr("strides: accepted"));
  EXPECT_THAT(placed(0, {-2}, {1}), HasSubstr("shape: accepted"));
  EXPECT_THAT(placed(0, {2, 3}, {1}), HasSubstr("strides: accepted: as many as the shape has sizes, 2"));
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_THAT(placed(0, {kHuge, 4}, {0, 0}), HasSubstr("shape: too large"));
  EXPECT_THAT(placed(0, {3}, {kHuge}), HasSubstr("strides: too large"));
  EXPECT_THAT(placed(kHuge, {2, 2}, {kHuge, kHuge}), HasSubstr("strides: too large"));
  EXPECT_THAT(placed(kHuge, {1}, {1}), HasSubstr("outside its storage"));
  EXPECT_THAT(placed(0, {std::int64_t{1} << 40}, {0}),
              HasSubstr("repeat a storage of 24; accepted in all: 1 GiB more"));
}

TEST(TorchFile, StoragesThatAreNone) {
  const auto in = [](const std::string& where, std::size_t bytes = 24) {
    return refusal(tensor(where, whole(0), wides({1}), wides({1})), bytes);
  };
  EXPECT_THAT(in("N"), HasSubstr("its storage is not one"));
  EXPECT_THAT(in("NQ"), HasSubstr("its storage is not one"));
  EXPECT_THAT(in(storage("torch\nfloat32", 6)), HasSubstr("its storage is not one"));
  EXPECT_THAT(in(storage("torch\nQInt8Storage", 6)), HasSubstr(R"(global "torch.QInt8Storage": refused)"));
  EXPECT_THAT(in(storage("torch.storage\nUntypedStorage", 24)), HasSubstr("its dtype is given twice, or never"));
  EXPECT_THAT(in(storage("torch\nFloatStorage", 7)), HasSubstr("24 bytes: the pickle says 7 elements of 4 bytes"));
  EXPECT_THAT(in(storage("torch\nFloatStorage", 6), 25), HasSubstr("25 bytes: the pickle says 6 elements"));
  EXPECT_THAT(in(storage("torch\nFloatStorage", -1)), HasSubstr("the pickle says -1 elements"));
  EXPECT_THAT(in(storage("torch\nFloatStorage", 6, "1")), HasSubstr(R"(member "x/data/1": missing in the archive)"));
  EXPECT_THAT(in(storage("torch\nFloatStorage", 6, "../../etc/passwd")), HasSubstr("missing in the archive"));
}

TEST(TorchFile, CallsThatMakeNoTensor) {
  EXPECT_THAT(refusal("}(" + text("a") + "ctorch\nfloat32\n)Ru"),
              HasSubstr(R"(tensor "a": torch.float32: makes no tensor)"));
  EXPECT_THAT(refusal("ctorch._utils\n_rebuild_tensor_v2\n)R"), HasSubstr("called with too few arguments"));
  EXPECT_THAT(refusal("ctorch._utils\n_rebuild_parameter\n)R"), HasSubstr("too few arguments"));
  EXPECT_THAT(refusal("ctorch._utils\n_rebuild_parameter\n" + tuple({"N", "N", "N"}) + "R"), HasSubstr("no tensor"));
  EXPECT_THAT(refusal("ccollections\nOrderedDict\n" + tuple({"]"}) + "R"), HasSubstr("called with arguments"));
}

TEST(TorchFile, NamesThatAreNone) {
  const std::string one = tensor(kFloats, whole(0), wides({1}), wides({1}));
  EXPECT_THAT(refusal("}(" + text("a") + one + text("a") + one + "u"), HasSubstr(R"(tensor "a": given twice)"));
  EXPECT_THAT(refusal("}(" + text("a.b") + one + text("a") + "}(" + text("b") + one + "uu"),
              HasSubstr(R"(tensor "a.b": given twice)"));
  EXPECT_THAT(refusal("}(N" + one + "u"), HasSubstr("neither text nor a whole number"));
  EXPECT_THAT(refusal("}(" + text("a") + "K\1u"), HasSubstr("no tensor in it"));
  EXPECT_THAT(refusal("}(" + text(std::string(2000, 'n')) + one + "u"),
              HasSubstr("a name of more than 1000 characters"));
  EXPECT_THAT(refusal("]q\1h\1a"), HasSubstr("one that contains itself"));
}

// Each list holds the one before it many times: a few hundred bytes that lead to 10^30 places.
TEST(TorchFile, ListsThatMultiply) {
  std::string operations = "]";
  for (char level = 1; level < 20; ++level) {
    operations += std::string("q") + level + "0](";
    for (int i = 0; i < 30; ++i) operations += std::string("h") + level;
    operations += "e";
  }
  EXPECT_THAT(refusal(operations), HasSubstr("more than 10000000 values"));
}

TEST(TorchFile, OtherArchives) {
  EXPECT_FALSE(is_torch_file(ZipArchive(bytes_of_text(zip_of({{"a.npy", ""}})))));
  EXPECT_FALSE(is_torch_file(ZipArchive(bytes_of_text(zip_of({{"x/data.pkl", ""}, {"y/data.pkl", ""}})))));
  EXPECT_THAT(complaint_of([] {
                read(zip_of({{"x/data.pkl", "\x80\2}."}, {"x/byteorder", "big"}}));
              }),
              HasSubstr(R"(member "x/byteorder": "big": accepted: little)"));
  const std::string good = contents(test_file("state.pt"));
  for (std::size_t length = 0; length < good.size(); length += 37)
    EXPECT_NE(complaint_of([&] { read(good.substr(0, length)); }), "no complaint") << length;
}

}  // namespace
}  // namespace ropewalk
