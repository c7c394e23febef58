#include "tests/harness/devices/sine_figures.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace ropewalk::cuda_math {
namespace {

template <typename... Arguments>
std::string text(const char* format, Arguments... arguments) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, arguments...);
  return buffer.data();
}

std::string hexadecimal(float x) { return text("%a", static_cast<double>(x)); }

}  // namespace

nlohmann::json read_figures(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(file);
}

float float_of(const nlohmann::json& hexadecimal) {
  return std::strtof(hexadecimal.get<std::string>().c_str(), nullptr);
}

nlohmann::json figures_of(const Survey& survey, Function function) {
  nlohmann::json far = nlohmann::json::array();
  for (const float x : survey.far_arguments) far.push_back(hexadecimal(x));
  return {{"compared", survey.compared},
          {"not_correctly_rounded", survey.not_correctly_rounded},
          {"two_or_more_away", survey.two_or_more_away},
          {"two_or_more_away_at", far},
          {"largest_error", text("%.4f", error_in_ulp(function, survey.at, survey.result))},
          {"at", hexadecimal(survey.at)},
          {"result", hexadecimal(survey.result)},
          {"fingerprint", text("%016llx", static_cast<unsigned long long>(survey.fingerprint))}};
}

std::vector<std::string> deviations(const Survey& survey, Function function, const nlohmann::json& expected) {
  const nlohmann::json found = figures_of(survey, function);
  std::vector<std::string> lines;
  if (expected.empty()) lines.emplace_back("no figures to compare with");
  for (const auto& [name, value] : expected.items()) {
    if (!found.contains(name)) {
      lines.push_back(name + ": no such figure");
    } else if (found[name] != value) {
      lines.push_back(name + ": " + found[name].dump() + ", expected " + value.dump());
    }
  }
  return lines;
}

}  // namespace ropewalk::cuda_math
