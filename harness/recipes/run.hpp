// Runs a recipe on a device, block of rows by block of rows.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/devices/device.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/recipes/step.hpp"

namespace ropewalk {

class RecipeRun {
 public:
  // module_cast: stages that are the module's buffers are rounded to the case's dtype as soon as they exist.
  // Throws Refused where the device cannot run a step.
  RecipeRun(Recipe recipe, std::shared_ptr<Device> device, const Case& problem, bool module_cast);

  // The stages for these positions, of each row one for every axis: positions as [rows] or, of several axes,
  // [rows, axes], inv_freq as [pairs], the others as [rows, pairs].
  std::map<std::string, Tensor> rows(std::span<const std::int64_t> positions) const;

 private:
  void run_stage(const StageSteps& stage, const Tensor& positions, Values& values) const;
  Tensor run_step(const Step& step, const Tensor& previous, const Tensor& positions, const Values& values) const;

  Tensor position_numbers(Device& where, const Tensor& positions, DType dtype) const;

  Recipe recipe_;
  std::shared_ptr<Device> device_, cpu_;
  Case problem_;
  bool module_cast_;
  mutable std::map<std::pair<const Device*, DType>, Tensor> position_tables_;
  Values once_;                             // stages and names that no position enters: made once, as projects do
  std::vector<const StageSteps*> by_rows_;  // the others, in their order
};

}  // namespace ropewalk
