#include "harness/tensors/npz.hpp"

#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return ropewalk::feed(
      data, size, [](const ropewalk::FileBytes& bytes) { return ropewalk::read_npz(ropewalk::ZipArchive(bytes)); });
}
