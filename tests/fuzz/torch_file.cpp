#include "harness/tensors/torch_file.hpp"

#include "tests/fuzz/fuzz.hpp"

// The input is data.pkl alone, because in an archive a checksum would stop every change of it. The storages are those
// of tests/data/tensors/state.pt, so that its pickle, a seed, leads to tensors.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ropewalk::ZipArchive archive(ropewalk::map_file(ROPEWALK_STATE_FILE, "the seed"));
  return ropewalk::feed(data, size, [](const ropewalk::FileBytes& bytes) {
    return ropewalk::read_torch_pickle(
        bytes, [](const std::string& key) { return archive.read("state/data/" + key); }, "lone");
  });
}
