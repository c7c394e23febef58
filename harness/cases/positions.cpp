#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cases/parts.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t kMostWritten = 8;  // positions that an id spells out

constexpr std::string_view kOwnMaximum = "max_position";

std::int64_t in_range(std::int64_t position, const Field& field) {
  if (position < 0 || position >= kPastLastPosition)
    field.refuse(fmt::format("positions are 0 to {}", kPastLastPosition - 1));
  return position;
}

// `own`: the model's maximum, of which the last position is one less.
std::int64_t position_or_own(const Field& field, std::int64_t own = 0) {
  if (field.json() != kOwnMaximum) return position_in(field);
  if (own == 0) field.refuse("this goes with a model_config only");
  return in_range(own - 1, field);
}

std::vector<std::int64_t> listed(const Field& field) {
  std::vector<std::int64_t> out;
  for (const Field& item : field.items()) {
    const std::int64_t p = position_or_own(item);
    if (!out.empty() && p <= out.back()) item.refuse("positions ascend, each one once");
    out.push_back(p);
  }
  return out;
}

std::vector<std::int64_t> stepped(const Object& range, std::int64_t own) {
  const std::int64_t from = position_or_own(range.need("from")), to = position_or_own(range.need("to"), own);
  const std::int64_t step = range.has("step") ? count_in(*range.find("step")) : 1;
  if (to < from) range.need("to").refuse("the last position is not below the first, \"from\"");
  std::vector<std::int64_t> out;
  for (std::int64_t p = from; p <= to; p += step) out.push_back(p);
  return out;
}

// Equal ratios between neighbours from a to b. No ratio leads away from 0: it stands before a sequence that starts
// at 1.
std::vector<std::int64_t> log_spaced(const Object& range, std::int64_t own) {
  const std::vector<Field> ends = range.need("log_spaced").items();
  if (ends.size() != 2) range.need("log_spaced").refuse("the first and the last position: [a, b]");
  const std::int64_t a = position_or_own(ends[0]), b = position_or_own(ends[1], own);
  if (b <= a) ends[1].refuse("the last position is above the first");
  const std::int64_t count = count_in(range.need("count"));
  if (count < 2) range.need("count").refuse("at least 2, for both ends");
  std::vector<std::int64_t> out{a};
  const std::int64_t points = a == 0 ? count - 1 : count;
  const auto first = static_cast<double>(std::max<std::int64_t>(a, 1));
  for (std::int64_t i = a == 0 ? 0 : 1; i < points - 1; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(points - 1);
    const auto p = static_cast<std::int64_t>(std::llround(first * std::pow(static_cast<double>(b) / first, share)));
    if (p > out.back() && p < b) out.push_back(p);
  }
  out.push_back(b);
  return out;
}

const std::vector<std::string>& fields_of(const Field& field) {
  static const std::vector<std::string> stepped_fields{"from", "to", "step"}, spaced_fields{"log_spaced", "count"};
  return field.json().contains("log_spaced") || field.json().contains("count") ? spaced_fields : stepped_fields;
}

}  // namespace

std::int64_t position_in(const Field& field) { return in_range(field.whole(), field); }

std::int64_t count_in(const Field& field) {
  const std::int64_t n = field.whole();
  if (n < 1 || n > kPastLastPosition)
    field.refuse(fmt::format("a whole number from 1 to {} is needed", kPastLastPosition));
  return n;
}

Positions read_max_position(const Field& field) { return {count_in(field), {}}; }

Positions read_positions(const Field& field, std::int64_t own) {
  if (field.json().is_array()) return {0, listed(field)};
  if (!field.json().is_object())
    field.refuse(R"(a list, {"from", "to", "step"}, {"log_spaced", "count"}, {"axes"} or {"tokens"} is needed)");
  if (field.json().contains("axes")) return read_axis_lists(field);
  if (field.json().contains("tokens")) return read_tokens(field, own);
  const Object range(field, fields_of(field));
  const bool spaced = field.json().contains("log_spaced") || field.json().contains("count");
  return {0, spaced ? log_spaced(range, own) : stepped(range, own)};
}

std::string text_of_positions(const Field& field) {
  const Json& value = field.json();
  const auto end = [&](const Json& json) {
    return json.is_string() ? std::string(kOwnMaximum) : std::to_string(field.inside("", json).whole());
  };
  if (value.contains("axes")) return text_of_axis_lists(field);
  if (value.contains("tokens")) return text_of_tokens(field);
  if (value.contains("log_spaced"))
    return fmt::format("log_spaced({}..{};{})", end(value["log_spaced"][0]), end(value["log_spaced"][1]),
                       field.inside("", value["count"]).whole());
  if (value.is_object()) {
    const std::int64_t step = value.contains("step") ? field.inside("", value["step"]).whole() : 1;
    return fmt::format("{}..{}", end(value["from"]), end(value["to"])) + (step == 1 ? "" : fmt::format(";{}", step));
  }
  const auto positions = read_positions(field).list;
  if (positions.size() <= kMostWritten) return fmt::format("{}", fmt::join(positions, ";"));
  return fmt::format("{};{};..;{}({})", positions[0], positions[1], positions.back(), positions.size());
}

}  // namespace ropewalk
