// Proves a folder of golden tensors again, from nothing but the definitions in its manifest.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/golden/manifest.hpp"

namespace ropewalk {

struct Verification {
  GoldenTotals totals;
  std::string written_by;          // the version that wrote the folder
  std::vector<std::string> wrong;  // one line each: file, tensor, index, what is there and what is exact
};

// Throws BadInput where there is no manifest to go by.
Verification verify_goldens(const std::filesystem::path& folder, int jobs, const std::function<void()>& done);

}  // namespace ropewalk
