#include "harness/report/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace ropewalk {
namespace {

const char* spelled(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return spelled(value);
}

double number_in(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

nlohmann::ordered_json with_spelled_numbers(nlohmann::ordered_json tree) {
  if (tree.is_number_float()) return json_number(tree.get<double>());
  if (tree.is_structured())
    for (auto& child : tree) child = with_spelled_numbers(std::move(child));
  return tree;
}

std::string hex_float(double value) { return std::isfinite(value) ? fmt::format("{:a}", value) : spelled(value); }
std::string decimal(double value) { return std::isfinite(value) ? fmt::format("{}", value) : spelled(value); }

std::string short_number(double value) {
  if (!std::isfinite(value)) return spelled(value);
  return value == 0 ? "0" : fmt::format("{:.1e}", value);
}

}  // namespace ropewalk
