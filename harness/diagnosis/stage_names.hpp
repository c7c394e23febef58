// Which tensor of a file is which stage, by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// A tensor that holds both cosines and sines, as serving engines keep them; stands beside the stages' names.
inline constexpr const char* kCosAndSin = "cos_sin";

struct NamedStages {
  std::map<std::string, std::string> tensor_of;  // stage (or kCosAndSin) -> name in the file
  std::vector<std::string> notes;                // what was decided, in words
};

// A stage is found by its exact name; else by the last part of a name, whatever its case ("model.rotary_emb.cos_cached"
// is cos); else by a name's ending ("rope_cos"). `map` (stage -> name) goes before all of that. Several tensors that
// fit equally well are one if they are the same bits. Throws BadInput: no stage found, an ambiguous name, a map that
// names what is not there.
NamedStages find_stages(const std::string& file, const std::map<std::string, Tensor>& tensors,
                        const std::map<std::string, std::string>& map);

}  // namespace ropewalk
