#include "harness/tensors/read_tensors.hpp"

#include <string_view>

#include "harness/tensors/npy.hpp"
#include "harness/tensors/npz.hpp"
#include "harness/tensors/safetensors.hpp"
#include "harness/tensors/torch_file.hpp"

namespace ropewalk {
namespace {

constexpr std::string_view kZipMember{"PK\x03\x04", 4}, kEmptyZip{"PK\x05\x06", 4};
constexpr char kPickle = '\x80';
constexpr std::size_t kHeaderOfSafetensors = 8;  // it begins with a brace

}  // namespace

std::map<std::string, Tensor> read_tensors(const std::filesystem::path& path) {
  const FileBytes bytes = map_file(path, "a file of tensors");
  const std::string_view text(bytes.text(), bytes.size);
  const std::string stem = path.stem().string();
  if (text.starts_with(kNpyMagic)) return {{stem, read_npy(bytes)}};
  const bool has_brace = text.size() > kHeaderOfSafetensors && text[kHeaderOfSafetensors] == '{';
  if (has_brace || path.extension() == ".safetensors") return read_safetensors(bytes);
  if (text.starts_with(kZipMember) || text.starts_with(kEmptyZip)) {
    const ZipArchive archive(bytes);
    return is_torch_file(archive) ? read_torch_file(archive, stem) : read_npz(archive);
  }
  if (text.starts_with(kPickle)) refuse_bare_pickle(bytes);
  bytes.refuse("", "",
               "not a file of tensors; accepted by their content: safetensors, .npy, .npz, .pt (since PyTorch 1.6)");
}

}  // namespace ropewalk
