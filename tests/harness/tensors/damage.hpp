// Bytes for the readers of tensor files to refuse, without files where that will do.
#pragma once

#include <gtest/gtest.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "harness/bad_input.hpp"
#include "harness/tensors/file_bytes.hpp"

namespace ropewalk {

inline std::string test_file(const std::string& name) { return ROPEWALK_TEST_DIR "/data/tensors/" + name; }

inline std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// A memory block of just this size, so that a sanitizer sees every step beyond it.
inline FileBytes bytes_of_text(const std::string& text) {
  FileBytes bytes{"made", "", nullptr, text.size()};
  bytes.start = std::shared_ptr<std::byte>(new std::byte[text.size()], [](const std::byte* p) { delete[] p; });
  std::memcpy(bytes.start.get(), text.data(), text.size());
  return bytes;
}

// The line that refuses, from BadInput; one line in any case.
template <class Read>
std::string complaint_of(Read read) {
  try {
    read();
  } catch (const BadInput& bad) {
    EXPECT_EQ(std::string(bad.what()).find('\n'), std::string::npos) << bad.what();
    return bad.what();
  }
  return "no complaint";
}

// A zip archive in memory; members are stored unless they are to be deflated.
inline std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, bool deflated = false) {
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_source_keep(memory);
  zip_t* archive = zip_open_from_source(memory, ZIP_TRUNCATE, nullptr);
  for (const auto& [name, text] : members) {
    zip_source_t* member = zip_source_buffer(archive, text.data(), text.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), member, ZIP_FL_ENC_UTF_8);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 9);
  }
  EXPECT_EQ(zip_close(archive), 0);
  zip_stat_t facts;
  zip_source_stat(memory, &facts);
  std::string bytes(facts.size, '\0');
  zip_source_open(memory);
  zip_source_read(memory, bytes.data(), bytes.size());
  zip_source_close(memory);
  zip_source_free(memory);
  return bytes;
}

// Changes what every local and central header of a zip archive says at these offsets (4 bytes).
inline void patch_headers(std::string& archive, std::size_t local_offset, std::size_t central_offset,
                          std::uint32_t value) {
  for (const auto& [magic, offset] : {std::pair(std::string("PK\3\4"), local_offset), {"PK\1\2", central_offset}})
    for (std::size_t at = archive.find(magic); at != std::string::npos; at = archive.find(magic, at + 1))
      std::memcpy(archive.data() + at + offset, &value, 4);
}

// Whether element i, row by row, is what tests/data/tensors/make.py puts there.
inline void expect_made_values(const Tensor& tensor, const std::string& name) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::complex64) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const auto* parts = reinterpret_cast<const float*>(tensor.bytes().data()) + 2 * i;
      EXPECT_EQ(parts[0], static_cast<float>(i - 2)) << name << " at " << i;
      EXPECT_EQ(parts[1], 1) << name << " at " << i;
    }
    return;
  }
  const std::vector<double> values = to_doubles(tensor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = dtype == DType::boolean ? static_cast<double>(i % 2)
                            : dtype == DType::uint8 ? static_cast<double>(i)
                                                    : static_cast<double>(i) - 2;
    EXPECT_EQ(values[i], expected) << name << " at " << i;
  }
}

}  // namespace ropewalk
