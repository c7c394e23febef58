// How far the results of each device's functions can be relied on: what `ropewalk devices` tells.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/recipes/recipe.hpp"

namespace ropewalk {

enum class Reliance {
  exact,     // IEEE: rounded once, the same bits on every device
  emulated,  // a model of another machine's bits
  bounded,   // some library's bits, within documented bounds
  refused
};
std::string_view name_of(Reliance reliance);

struct FunctionNote {
  std::string_view functions;  // in words
  std::vector<Op> ops;         // that stand for them
  Reliance reliance;
  std::string_view why;
};

// Of float32 on the device of this name; `on_gpu`: whether cuda-kernels runs on a GPU.
std::vector<FunctionNote> functions_of(const std::string& device, bool on_gpu);

}  // namespace ropewalk
