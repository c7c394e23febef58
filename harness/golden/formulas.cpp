#include "harness/golden/formulas.hpp"

#include <fmt/format.h>

#include "harness/cases/exact_rope.hpp"

namespace ropewalk {
namespace {

using reference::Scaling;

std::string yarn(const Scaling& s, const std::string& power, const std::string& j) {
  const std::string turns =
      "t(n) = rotary_dim ln(original_max_position_embeddings / (2 pi n)) / (2 ln base), "
      "+ 0.001 on hi where lo = hi";
  const char* ends = s.truncate ? "lo = max(floor(t(beta_fast)), 0), hi = min(ceil(t(beta_slow)), rotary_dim - 1)"
                                : "lo = max(t(beta_fast), 0), hi = min(t(beta_slow), rotary_dim - 1)";
  return fmt::format("({0} (1 - r + r / factor), where r = min(max(({1} - lo) / (hi - lo), 0), 1), {2}, {3})", power, j,
                     ends, turns);
}

std::string llama3(const std::string& power) {
  return fmt::format(
      "({0} where x > high_freq_factor, {0} / factor where x < low_freq_factor, else {0} (s + (1 - s) / factor), where "
      "x = original_max_position_embeddings {0} / (2 pi), s = (x - low_freq_factor) / (high_freq_factor - "
      "low_freq_factor))",
      power);
}

}  // namespace

std::string frequency_formula(const Rope& rope, const std::string& j) {
  const Scaling& s = rope.scaling;
  if (rope.axial) return fmt::format("base^(-4 ({} mod (rotary_dim / 4)) / rotary_dim)", j);
  std::string power = fmt::format("base^(-2 {} / rotary_dim)", j);
  switch (s.type) {
    case Scaling::Type::none:
      return power;
    case Scaling::Type::linear:
      return power + " / factor";
    case Scaling::Type::dynamic:
      if (s.length <= s.max_position_embeddings) return power;
      return fmt::format(
          "(base (factor length / max_position_embeddings - (factor - 1))^(rotary_dim / (rotary_dim - 2)))^(-2 {} / "
          "rotary_dim)",
          j);
    case Scaling::Type::yarn:
      return yarn(s, power, j);
    case Scaling::Type::longrope:
      return fmt::format("{} / {}[{}]", power,
                         s.length > s.original_max_position_embeddings ? "long_factor" : "short_factor", j);
    case Scaling::Type::llama3:
      return llama3(power);
    case Scaling::Type::proportional:
      return fmt::format("({} / factor for {} < floor(proportion rotary_dim / 2), counted in float64, else 0)", power,
                         j);
  }
  return {};
}

std::string position_formula(const Rope& rope, const std::string& i, const std::string& j) {
  return rope.axes() == 1 ? fmt::format("positions[{}]", i) : fmt::format("positions[{}, axis({})]", i, j);
}

std::string axis_formula(const Rope& rope, const std::string& j) {
  const std::int64_t axes = rope.axes();
  if (axes == 1) return {};
  std::string text = fmt::format(", where axis({}) = ", j);
  if (rope.mrope_interleaved)
    return text + fmt::format("a > 0 for {0} = a, a + {1}, a + 2 {1}, ... below {1} mrope_section[a], else 0", j, axes);
  std::int64_t end = 0;
  for (std::int64_t axis = 0; axis + 1 < axes; ++axis) {
    end += rope.axial ? rope.rotary_dim() / 4 : rope.mrope_section[static_cast<std::size_t>(axis)];
    text += fmt::format("{} for {} < {}, else ", axis, j, end);
  }
  return text + std::to_string(axes - 1);
}

std::string amplitude_formula(const Rope& rope) {
  const Scaling& s = rope.scaling;
  if (amplitude_of(rope).is_one()) return {};
  if (s.attention_factor) return "attention_factor * ";
  if (s.type == Scaling::Type::longrope)
    return fmt::format(
        "sqrt(1 + ln({}) / ln(original_max_position_embeddings)) * ",
        s.max_position_embeddings > 0 ? "max_position_embeddings / original_max_position_embeddings" : "factor");
  if (s.mscale && s.mscale_all_dim) return "(1 + mscale ln(factor) / 10) / (1 + mscale_all_dim ln(factor) / 10) * ";
  return "(1 + ln(factor) / 10) * ";
}

}  // namespace ropewalk
