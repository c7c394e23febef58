#include "harness/tensors/npz.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/tensors/read_tensors.hpp"
#include "tests/harness/tensors/damage.hpp"

namespace ropewalk {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(Npz, WhatNumPyWrites) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto tensors = read_tensors(test_file(name));
    ASSERT_EQ(tensors.size(), 10U) << name;
    for (const auto& [dtype, tensor] : tensors) {
      EXPECT_EQ(name_of(tensor.dtype()), dtype);
      EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % bytes_of(tensor.dtype()), 0U) << dtype;
      expect_made_values(tensor, dtype);
    }
  }
}

std::string refusal(const std::string& bytes) {
  return complaint_of([&] { read_npz(ZipArchive(bytes_of_text(bytes))); });
}

TEST(Npz, CutAnywhere) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string whole = contents(test_file(name));
    for (std::size_t length = 0; length < whole.size(); length += 7)
      EXPECT_NE(refusal(whole.substr(0, length)), "no complaint") << name << " cut at " << length;
  }
}

TEST(Npz, OneFlippedBitOfTheDataIsFound) {
  const std::string array = contents(test_file("version1.npy"));
  for (const bool deflated : {false, true}) {
    std::string archive = zip_of({{"a.npy", array}}, deflated);
    const std::size_t name = archive.find("a.npy");
    archive[name + 5 + (deflated ? 20 : array.size() - 1)] ^= 1;
    EXPECT_THAT(refusal(archive), HasSubstr(R"(made: member "a.npy": damaged: )"));
  }
}

TEST(Npz, OtherMembers) {
  EXPECT_THAT(refusal(zip_of({{"notes.txt", "x"}})),
              HasSubstr(R"(member "notes.txt": accepted: members that end in .npy)"));
  EXPECT_THAT(refusal(zip_of({{"a.npy", "x"}})), HasSubstr(R"(member "a.npy": truncated: 1 bytes)"));
  EXPECT_THAT(refusal(std::string("PK\5\6", 4) + std::string(18, '\0')), HasSubstr("no array in it"));
}

TEST(Npz, ANameGivenTwice) {
  const std::string array = contents(test_file("version1.npy"));
  std::string archive = zip_of({{"a.npy", array}, {"b.npy", array}});
  for (std::size_t at = archive.find("b.npy"); at != std::string::npos; at = archive.find("b.npy")) archive[at] = 'a';
  EXPECT_THAT(refusal(archive), HasSubstr(R"(member "a.npy": given twice)"));
}

TEST(Npz, SizesThatCannotBe) {
  constexpr std::size_t kLocalCompressed = 18, kCentralCompressed = 20, kLocalSize = 22, kCentralSize = 24;
  const std::string array = contents(test_file("version1.npy")), whole = zip_of({{"a.npy", array}}, true);
  std::string archive = whole;
  patch_headers(archive, kLocalSize, kCentralSize, 0xfffffff0);  // 4 GiB from a hundred bytes
  EXPECT_THAT(refusal(archive), HasSubstr("4294967280 bytes: "));
  archive = whole;
  patch_headers(archive, kLocalSize, kCentralSize, static_cast<std::uint32_t>(array.size() + 1));
  EXPECT_THAT(refusal(archive), AnyOf(HasSubstr("the archive promises 153"), HasSubstr("damaged")));
  archive = whole;
  patch_headers(archive, kLocalSize, kCentralSize, static_cast<std::uint32_t>(array.size() - 1));
  EXPECT_THAT(refusal(archive), AnyOf(HasSubstr("longer than the 151 bytes promised"), HasSubstr("damaged")));
  archive = whole;
  patch_headers(archive, kLocalCompressed, kCentralCompressed, 0x7fffffff);
  EXPECT_THAT(refusal(archive), AnyOf(HasSubstr("more than the archive has"), HasSubstr("damaged")));
}

// Members that share their compressed bytes: what a bomb of a few kilobytes is made of.
TEST(Npz, MembersThatOverlap) {
  const std::string zeros(100'000, '\0');
  std::string archive = zip_of({{"a.npy", zeros}, {"b.npy", zeros}, {"c.npy", zeros}}, true);
  const std::uint32_t start = 0;  // every central header points at the first member
  for (std::size_t at = archive.find("PK\1\2"); at != std::string::npos; at = archive.find("PK\1\2", at + 1))
    std::memcpy(archive.data() + at + 42, &start, 4);
  const std::size_t central = archive.find("PK\1\2"), second = archive.find("PK\3\4", 4);
  archive.erase(second, central - second);  // now there is but one
  for (std::size_t at = archive.find("PK\5\6"); at != std::string::npos; at = archive.find("PK\5\6", at + 1)) {
    const auto offset = static_cast<std::uint32_t>(second);
    std::memcpy(archive.data() + at + 16, &offset, 4);
  }
  EXPECT_THAT(refusal(archive), HasSubstr("more than the archive has, with those before it"));
}

TEST(Npz, WhatCompressionGivesAtMost) {
  const std::string bytes = zip_of({{"a.npy", std::string(20'000'000, '\0')}}, true);
  EXPECT_LT(bytes.size(), 21'000U);
  EXPECT_THAT(refusal(bytes), HasSubstr("not an .npy file")) << "the bytes were not unpacked";
}

}  // namespace
}  // namespace ropewalk
