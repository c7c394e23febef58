#include "harness/tensors/npz.hpp"

#include <string_view>

#include "harness/tensors/npy.hpp"

namespace ropewalk {

std::map<std::string, Tensor> read_npz(const ZipArchive& archive) {
  constexpr std::string_view kSuffix = ".npy";
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, index] : archive.members()) {
    if (!name.ends_with(kSuffix))
      archive.bytes().refuse("member " + quoted_name(name), "",
                             "accepted: members that end in .npy, or a PyTorch file, which has one data.pkl");
    tensors.emplace(name.substr(0, name.size() - kSuffix.size()), read_npy(archive.read(name)));
  }
  if (tensors.empty()) archive.bytes().refuse("", "", "no array in it");
  return tensors;
}

}  // namespace ropewalk
