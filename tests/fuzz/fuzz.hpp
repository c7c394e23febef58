// A reader under libFuzzer: it may refuse with BadInput; whatever else leaves it is a finding. Every byte of what it
// returns is read, so that the sanitizer sees tensors that reach outside their storage.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "harness/bad_input.hpp"
#include "harness/tensors/file_bytes.hpp"

namespace ropewalk {

// In a block of just this size, at any alignment that a mapped file has.
inline FileBytes bytes_of_input(const std::uint8_t* data, std::size_t size) {
  FileBytes bytes{"fuzz", "", nullptr, size};
  bytes.start = std::shared_ptr<std::byte>(new std::byte[size], [](const std::byte* p) { delete[] p; });
  if (size > 0) std::memcpy(bytes.start.get(), data, size);
  return bytes;
}

inline unsigned touch(const std::map<std::string, Tensor>& tensors) {
  unsigned sum = 0;
  for (const auto& [name, tensor] : tensors)
    for (const std::byte b : tensor.bytes()) sum += static_cast<unsigned>(b);
  return sum;
}

template <class Read>
int feed(const std::uint8_t* data, std::size_t size, Read read) {
  try {
    static volatile unsigned sink;
    sink = touch(read(bytes_of_input(data, size)));
  } catch (const BadInput& refused) {
    if (std::strchr(refused.what(), '\n') != nullptr) __builtin_trap();  // one line
  }
  return 0;
}

}  // namespace ropewalk
