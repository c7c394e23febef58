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

void add_lists(const Case& problem, Values& values);  // lists of the case, by name
// Of a step in the case's words; throws Refused for a name that is none.
std::vector<Argument> operands(const Step& step, const Tensor& previous, const Values& values, const Case& problem);
// `seen`: earlier results by name, of any kind that has a dtype.
template <class Seen, class F>
DType step_dtype(const Step& step, const Seen& seen, DType activation, F dtype_of) {
  if (const auto named = dtype_named(step.dtype)) return *named;
  const auto stage = seen.find(step.dtype);
  return stage == seen.end() ? activation : dtype_of(stage->second);
}
DType step_dtype(const Step& step, const Values& values, DType activation);
// Position numbers 0 .. largest in 16 bits, as projects make them: LibTorch's vectorised arange on the CPU is not the
// rounded number from bfloat16 4113 on (it rounds the first of each vector, then adds). float32 holds all positions in
// use exactly and needs no table.
Tensor arange_to(Device& where, std::int64_t largest, DType dtype);
Tensor gathered(const Tensor& table, const Tensor& indices);  // elements of a 16-bit table [n], in the indices' shape
// Whether this device runs the recipe's kernel, and the kernel makes this stage.
bool made_by_kernel(const Recipe& recipe, const Device& device, const std::string& stage);
// What is IEEE's alone (keep_bits, running_product, reductions) is done on the host.
Tensor run_on(Device& device, const Step& step, const std::vector<Argument>& in, DType dtype);

}  // namespace ropewalk
