// NumPy's .npz: a zip archive of .npy files.
#pragma once

#include <map>
#include <string>

#include "harness/tensors/zip_archive.hpp"

namespace ropewalk {

// Every array by the name of its member without ".npy". Throws BadInput, also for members that are no .npy files.
std::map<std::string, Tensor> read_npz(const ZipArchive& archive);

}  // namespace ropewalk
