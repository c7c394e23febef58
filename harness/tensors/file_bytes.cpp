#include "harness/tensors/file_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "harness/bad_input.hpp"

namespace ropewalk {

void FileBytes::refuse(const std::string& part, const std::string& value, const std::string& accepted) const {
  throw BadInput(file, member + (member.empty() || part.empty() ? "" : ": ") + part, value, accepted);
}

FileBytes map_file(const std::filesystem::path& file, const std::string& needed) {
  FileBytes bytes{file.string(), "", nullptr, 0};
  std::error_code error;
  const auto status = std::filesystem::status(file, error);  // before open, which would wait for a pipe's writer
  if (!std::filesystem::exists(status)) bytes.refuse("", "", "no such file; " + needed + " is needed");
  if (!std::filesystem::is_regular_file(status)) bytes.refuse("", "", "not a regular file; " + needed + " is needed");
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) bytes.refuse("", "", std::string("cannot be read: ") + std::strerror(errno));
  struct stat facts {};
  const bool known = fstat(descriptor, &facts) == 0;
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* memory = MAP_FAILED;
  if (known && size > 0) memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  close(descriptor);
  if (known && size == 0) return bytes;
  if (memory == MAP_FAILED) bytes.refuse("", "", std::string("cannot be mapped: ") + std::strerror(reason));
  bytes.start = {static_cast<std::byte*>(memory), [size](std::byte* p) { munmap(p, size); }};
  bytes.size = size;
  return bytes;
}

std::string quoted_name(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  const std::string cut = text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
  return nlohmann::json(cut).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<std::int64_t> checked_bytes(DType dtype, const Shape& shape) {
  auto bytes = static_cast<std::int64_t>(bytes_of(dtype));
  for (const std::int64_t size : shape) {
    if (size < 0 || (size != 0 && bytes > std::numeric_limits<std::int64_t>::max() / size)) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

Tensor tensor_in(const FileBytes& bytes, std::uint64_t first, DType dtype, Shape shape) {
  std::byte* start = bytes.start.get() + first;
  if (reinterpret_cast<std::uintptr_t>(start) % bytes_of(dtype) == 0)
    return {dtype, std::move(shape), std::shared_ptr<std::byte>(bytes.start, start)};
  Tensor copy(dtype, std::move(shape));
  std::copy_n(start, copy.bytes().size(), copy.bytes().begin());
  return copy;
}

Tensor strided_copy(const std::byte* first, DType dtype, const Shape& shape, const Shape& strides) {
  Tensor out(dtype, shape);
  const auto bytes = static_cast<std::int64_t>(bytes_of(dtype));
  std::byte* to = out.bytes().data();
  Shape index(shape.size(), 0);
  std::int64_t element = 0;  // where the index is in the storage
  for (std::int64_t left = out.size(); left > 0; --left) {
    to = std::copy_n(first + element * bytes, bytes, to);
    for (std::size_t axis = shape.size(); axis-- > 0;) {  // the last axis runs fastest
      element += strides[axis];
      if (++index[axis] < shape[axis]) break;
      element -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

}  // namespace ropewalk
