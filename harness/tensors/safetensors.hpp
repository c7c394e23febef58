// Safetensors files: 8 bytes of header length (little endian), a JSON header, the tensors' bytes.
// https://github.com/huggingface/safetensors, section "Format".
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/tensors/file_bytes.hpp"

namespace ropewalk {

// Every tensor by its name. The tensors share a private mapping of the file (copy on write), so a large file needs
// little memory; nobody may shorten the file while they live. Throws BadInput with the tensor's name for anything that
// the format does not allow: a file that ends early, offsets that overlap, leave holes or point outside, a size that is
// not shape times dtype, an unknown dtype, a name given twice.
std::map<std::string, Tensor> read_safetensors(const std::filesystem::path& file);
std::map<std::string, Tensor> read_safetensors(const FileBytes& bytes);

// The same arguments give the same bytes. Tensors are laid out by descending element size, then by name, so that each
// is aligned for its type. The file appears whole or not at all; throws BadInput when it cannot be written.
void write_safetensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// A file from the shapes of its tensors alone, for writing it piece by piece; the bytes of write_safetensors.
struct SafetensorsLayout {
  std::string head;                  // everything before the tensors
  std::vector<std::uint64_t> begin;  // of each tensor, its first byte in the file, in the order given
  std::uint64_t size = 0;            // of the whole file, in bytes
};
struct NamedShape {
  std::string name;
  DType dtype;
  Shape shape;
};
SafetensorsLayout safetensors_layout(std::span<const NamedShape> tensors,
                                     const std::map<std::string, std::string>& metadata = {});

}  // namespace ropewalk
