// What the readers of tensor files have in common: the bytes, how to name them in a complaint, tensors out of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

static_assert(std::endian::native == std::endian::little, "the bytes of files are used as they are");

// The bytes of a file, or of one member of an archive.
struct FileBytes {
  std::string file;    // as the user named it
  std::string member;  // `member "cos.npy"` of an archive, else empty
  std::shared_ptr<std::byte> start;
  std::uint64_t size = 0;

  const char* text() const { return reinterpret_cast<const char*>(start.get()); }
  // Throws BadInput for a part of these bytes ("header", or nothing).
  [[noreturn]] void refuse(const std::string& part, const std::string& value, const std::string& accepted) const;
};

// A private mapping (copy on write). An empty file has no bytes. Throws BadInput; `needed` says what should be there,
// "a safetensors file".
FileBytes map_file(const std::filesystem::path& file, const std::string& needed);

// Of others, for one line: in double quotes, escaped, valid UTF-8, cut where it is very long.
std::string quoted_name(const std::string& text);

// Size in bytes; nothing if a size is negative or the product has more than 63 bits.
std::optional<std::int64_t> checked_bytes(DType dtype, const Shape& shape);

// The elements from this byte on, which must lie inside: shared where they are aligned for their type, else copied.
Tensor tensor_in(const FileBytes& bytes, std::uint64_t first, DType dtype, Shape shape);

// A row-major copy of elements that lie `strides` elements apart; all of them must lie inside the storage.
Tensor strided_copy(const std::byte* first, DType dtype, const Shape& shape, const Shape& strides);

}  // namespace ropewalk
