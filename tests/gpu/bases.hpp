// The bases of tables in the case files, and of models in use. A test holds the case files against this list.
#pragma once

#include <array>

namespace ropewalk::gpu_checks {

inline constexpr std::array<float, 16> kBases{1e3F, 1e4F,       4e4F, 1e5F, 1.5e5F, 2.5e5F, 5e5F,   6e5F,
                                              1e6F, 1000042.0F, 4e6F, 5e6F, 8e6F,   1e7F,   7.5e7F, 1e8F};
inline constexpr int kLargestWidth = 1024;  // every even width up to it

}  // namespace ropewalk::gpu_checks
