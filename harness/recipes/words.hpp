// The words that a recipe's steps may use: parameters of the case, tensors that the case gives, conditions.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/recipes/recipe.hpp"

namespace ropewalk {

std::span<const std::string_view> parameters_of(Kind kind);
std::span<const std::string_view> inputs_of(Kind kind);  // as make_inputs names them, and the lists of the case
std::span<const std::string_view> conditions_of(Kind kind);

std::map<std::string, const std::vector<double>*> lists_of(const Case& problem);  // those that the case has
void need_scaling(const Recipe& recipe, const Case& problem);  // throws Refused where the recipe has none of this type
// Throws Refused where the positions' axes are not the recipe's. One axis does where the case has the same position on
// all of them.
void need_axes(const Recipe& recipe, const Case& problem);

double parameter(const std::string& name, const Case& problem);  // throws Refused for a name that is none
bool holds(const std::string& condition, const Case& problem);   // of a step's `when`; empty: always

}  // namespace ropewalk
