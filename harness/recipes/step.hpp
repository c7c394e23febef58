// One step of a recipe on a device.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {

using Values = std::map<std::string, Tensor>;  // stages, named results and inputs

// Of a step in the case's words; throws Refused for a name that is none.
std::vector<Argument> operands(const Step& step, const Tensor& previous, const Values& values, const Case& problem);
DType step_dtype(const Step& step, const Values& values, DType activation);
// What needs no arithmetic of the device's (keep_bits) is done here.
Tensor run_on(Device& device, const Step& step, const std::vector<Argument>& in, DType dtype);

}  // namespace ropewalk
