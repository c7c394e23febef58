// Writes a folder of golden tensors, block by block.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "harness/golden/manifest.hpp"

namespace ropewalk {

// `folder` must be new or empty; the manifest comes last, so that an interrupted folder has none. `jobs` files are made
// side by side, each in a few MB. `done` is called after each file, from one thread at a time. Throws BadInput.
GoldenTotals write_goldens(const std::vector<Case>& cells, const std::filesystem::path& folder, int jobs,
                           const std::function<void()>& done);

}  // namespace ropewalk
