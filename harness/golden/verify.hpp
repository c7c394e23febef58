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
  std::vector<std::string> wrong;  // one line each: file, tensor, index, what is there and what is exact
};

// The manifest is the folder's. `done` is called after each file, from one thread at a time. Throws BadInput.
Verification verify_goldens(const std::filesystem::path& folder, const Manifest& manifest, int jobs,
                            const std::function<void()>& done);

}  // namespace ropewalk
