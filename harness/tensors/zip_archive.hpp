// Zip archives as .npz and .pt files are: stored or deflated members, each name once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/tensors/file_bytes.hpp"

struct zip;

namespace ropewalk {

class ZipArchive {
 public:
  // Throws BadInput for an archive that is damaged, has a name twice, encrypted members, another compression, or
  // members that claim more bytes than their compressed bytes can give (at most 8 GiB in all of what is compressed).
  explicit ZipArchive(const FileBytes& bytes);

  const std::map<std::string, std::uint64_t>& members() const { return members_; }  // name -> index
  // The whole member in memory, its length and checksum verified. Throws BadInput.
  FileBytes read(const std::string& name) const;
  const FileBytes& bytes() const { return bytes_; }

 private:
  FileBytes bytes_;
  std::unique_ptr<zip, void (*)(zip*)> zip_;
  std::map<std::string, std::uint64_t> members_;
};

}  // namespace ropewalk
