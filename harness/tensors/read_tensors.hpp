// Any file of tensors that ropewalk takes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// Every tensor by its name. The content decides, not the name of the file: safetensors, .npy (one array, named by the
// file's stem), .npz (members without ".npy"), PyTorch's .pt (names joined with dots). Throws BadInput.
std::map<std::string, Tensor> read_tensors(const std::filesystem::path& file);

}  // namespace ropewalk
