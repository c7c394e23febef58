#include "harness/checks/lora_causes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace ropewalk {
namespace {

std::string fitted_scale(const LookedAt& stage, const Lora& lora) {
  const std::vector<double> got = to_doubles(stage.tensor);
  const auto& exact = stage.total->values.head;
  for (const char* formula : {"alpha", "alpha/r", "alpha/sqrt(r)", "none"}) {
    Lora other = lora;
    other.scale = formula;
    const double scale = std::string_view(formula) == "none" ? 1 : other.gamma(), by = scale / lora.gamma();
    bool explains = by != 1 && std::isfinite(by);
    for (std::size_t i = 0; i < got.size() && explains; ++i)
      explains = std::fabs(got[i] - by * exact[i]) <= (1 + std::fabs(by)) * stage.limits.total[i];
    if (explains)
      return fmt::format("scaled by {}{}, not by {} = {}", formula, scale == 1 ? "" : fmt::format(" = {}", scale),
                         lora.scale, lora.gamma());
  }
  return {};
}

// Every column that is off must hold, in all rows, what belongs to another one.
std::string moved_columns(const LookedAt& stage, std::int64_t columns) {
  constexpr std::size_t kShown = 8;
  const std::vector<double> got = to_doubles(stage.tensor);
  const auto& exact = stage.total->values.head;
  const auto n = static_cast<std::size_t>(columns), rows = got.size() / n;
  const auto holds = [&](std::size_t column, std::size_t owner) {
    for (std::size_t r = 0; r < rows; ++r)
      if (!(std::fabs(got[r * n + column] - exact[r * n + owner]) <= stage.limits.total[r * n + owner])) return false;
    return true;
  };
  std::vector<std::string> moved;
  std::size_t count = 0;
  for (std::size_t column = 0; column < n; ++column) {
    if (holds(column, column)) continue;
    std::size_t owner = 0;
    while (owner < n && !holds(column, owner)) ++owner;
    if (owner == n) return {};
    if (++count <= kShown) moved.push_back(fmt::format("{} has what belongs to {}", column, owner));
  }
  if (count == 0) return {};
  return fmt::format("{} of {} columns in another order: {}{}", count, n, fmt::join(moved, ", "),
                     count > kShown ? ", ..." : "");
}

}  // namespace

std::string explain_lora(const std::string& stage, const LookedAt& looked, const Lora& lora) {
  if (stage == "lora_index") return {};
  if (std::string scale = fitted_scale(looked, lora); !scale.empty()) return scale;
  return stage == "lora_padded" ? moved_columns(looked, lora.out_size()) : "";
}

}  // namespace ropewalk
