// The stored figures that the model's sine and cosine must meet: cuda_math_figures.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/harness/devices/exact_math.hpp"
#include "tests/harness/devices/sine_survey.hpp"

namespace ropewalk::cuda_math {

nlohmann::json read_figures(const std::string& path);
float float_of(const nlohmann::json& hexadecimal);

// One object of figures, {"not_correctly_rounded": ..., ...}, from a survey.
nlohmann::json figures_of(const Survey& survey, Function function);

// A line for every figure in the expected object that a survey does not meet exactly.
std::vector<std::string> deviations(const Survey& survey, Function function, const nlohmann::json& expected);

}  // namespace ropewalk::cuda_math
