// PyTorch's .pt and .pth files since version 1.6: a zip archive with a pickle of the structure (data.pkl) and one
// member for each storage (data/0, ...). docs: https://pytorch.org/docs/stable/notes/serialization.html
#pragma once

#include <functional>
#include <map>
#include <string>

#include "harness/tensors/zip_archive.hpp"

namespace ropewalk {

bool is_torch_file(const ZipArchive& archive);
// The earlier format (a bare pickle) cannot be read without running it; throws BadInput that says how to convert.
[[noreturn]] void refuse_bare_pickle(const FileBytes& bytes);

// Every tensor in dicts, lists and tuples, whose keys and indices are joined with dots: "layers.0.weight". A file that
// is nothing but one tensor has it under `lone_name`. Numbers and texts are passed over. Nothing of the file is run:
// see pickle.hpp. Tensors that lie row-major share their storage, others are copied. Throws BadInput.
std::map<std::string, Tensor> read_torch_file(const ZipArchive& archive, const std::string& lone_name);

// The same for the bytes of data.pkl and whatever gives the storage with a key; it throws BadInput if it has none.
using StorageSource = std::function<FileBytes(const std::string& key)>;
std::map<std::string, Tensor> read_torch_pickle(const FileBytes& pickle, const StorageSource& storage,
                                                const std::string& lone_name);

}  // namespace ropewalk
