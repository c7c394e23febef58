// manifest.json: what a folder of golden tensors holds, and how each tensor was proved.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/golden/golden.hpp"
#include "harness/tensors/safetensors.hpp"

namespace ropewalk {

inline constexpr const char* kManifest = "manifest.json";

std::string golden_file_name(const std::string& case_id);  // without a folder; another one for every case of a file
SafetensorsLayout layout_of(const GoldenFile& golden, const std::string& case_id);

// What only making the tensors tells.
struct Made {
  std::string sha256;                       // of the file
  std::vector<std::string> tensors_sha256;  // of each tensor's bytes
  std::vector<reference::Proof> proofs;
};

struct GoldenTotals {
  std::int64_t files = 0, tensors = 0, bytes = 0;
  reference::Proof proof;
  GoldenTotals& operator+=(const GoldenTotals& other);
};

Json entry_of(const GoldenFile& golden, const std::string& case_id, const Made& made);
// Of one file; counts a proof that several tensors share once.
GoldenTotals totals_of(const GoldenFile& golden, const SafetensorsLayout& layout, const Made& made);
Json manifest_of(std::vector<Json> entries);

struct ManifestEntry {
  std::string file, case_id;
  GoldenFile golden;
  Json written;      // the whole entry
  std::string path;  // "files[3]"
};
struct Manifest {
  std::string version;  // of the program that wrote it
  std::vector<ManifestEntry> entries;
};
// Checks only what is needed to make the tensors again. Throws BadInput.
Manifest read_manifest(const std::filesystem::path& folder);
std::string golden_version();  // of this program

}  // namespace ropewalk
