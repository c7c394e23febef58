// Runs a recipe for attention or LoRA on a device: the whole problem at once, stage by stage.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/recipes/step.hpp"
#include "harness/recipes/work.hpp"

namespace ropewalk {

struct WholeRun {
  Values values;                              // stages, named results and inputs
  std::map<std::string, std::string> failed;  // stage -> why it and what needs it are not there
  std::map<std::string, Work> work;           // of each stage
  std::vector<std::string> notes;             // "lora_padded shares its elements with lora_delta", ...
};

// `inputs` as make_inputs gives them; a recipe that writes into them changes them. Throws Refused.
WholeRun run_whole(const Recipe& recipe, const std::shared_ptr<Device>& device, const Case& problem, Values inputs,
                   bool module_cast);

// One stage of the recipe again, from values that a run left; `values` is not changed except by steps that write in
// place.
Tensor run_stage_again(const Recipe& recipe, const StageSteps& stage, Device& device, const Case& problem,
                       Values values);

}  // namespace ropewalk
