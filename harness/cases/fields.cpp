#include "harness/cases/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "harness/bad_input.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t kLongestShown = 80;  // characters of a value in a message

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true);  // ASCII, so that a cut leaves whole characters
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "...";
  return text;
}

// Levenshtein's distance: insertions, deletions and changes of a letter.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

bool fits_an_id(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._@+-").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool continued = candidate.size() > 2 && (name.starts_with(candidate) || candidate.starts_with(name));
    const std::size_t d = continued ? 1 : distance(name, candidate);
    if (d < least && d < std::max(name.size(), candidate.size())) {
      best = &candidate;
      least = d;
    }
  }
  return best ? fmt::format(", did you mean {}?", *best) : "";
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string plain(double number) {
  std::array<char, 512> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed).ptr;
  return {digits.begin(), end};
}

Json plain_json(double number) {
  if (number == std::trunc(number) && std::fabs(number) <= 0x1p53) return static_cast<std::int64_t>(number);
  return number;
}

Field::Field(std::string file, std::string path, const Json& value)
    : file_(std::move(file)), path_(std::move(path)), value_(&value) {}

Field Field::inside(const std::string& name, const Json& value) const {
  return {file_, path_.empty() ? name : path_ + "." + name, value};
}

Field Field::at(const std::string& name) const {
  static const Json left_out;
  return inside(name, value_->contains(name) ? (*value_)[name] : left_out);
}

void Field::refuse(const std::string& accepted) const { refuse(shown(*value_), accepted); }

void Field::refuse(const std::string& value, const std::string& accepted) const {
  throw BadInput(file_, path_, value, accepted);
}

std::string Field::text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) refuse("a text is needed");
  return value_->get<std::string>();
}

std::string Field::name() const {
  std::string out = text();
  if (!fits_an_id(out)) refuse("a name is made of letters, digits and . _ @ + -");
  return out;
}

double Field::number() const {
  if (!value_->is_number()) refuse("a number is needed");
  return value_->get<double>();
}

std::int64_t Field::whole() const {
  if (value_->is_number_integer()) {
    if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > INT64_MAX) refuse("a whole number below 2^63");
    return value_->get<std::int64_t>();
  }
  const double v = value_->is_number_float() ? value_->get<double>() : 0.5;
  if (v != std::trunc(v) || std::fabs(v) > 0x1p53) refuse("a whole number is needed");
  return static_cast<std::int64_t>(v);
}

bool Field::flag() const {
  if (!value_->is_boolean()) refuse("true or false is needed");
  return value_->get<bool>();
}

std::size_t Field::choice(std::span<const std::string_view> names) const {
  const std::vector<std::string> accepted(names.begin(), names.end());
  if (value_->is_string()) {
    const auto found = std::find(names.begin(), names.end(), value_->get_ref<const std::string&>());
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  }
  const std::string near = value_->is_string() ? did_you_mean(value_->get<std::string>(), accepted) : "";
  refuse("one of " + joined(accepted) + near);
}

std::vector<Field> Field::items() const {
  if (!value_->is_array() || value_->empty()) refuse("a list with at least one entry is needed");
  std::vector<Field> out;
  for (std::size_t i = 0; i < value_->size(); ++i)
    out.emplace_back(file_, fmt::format("{}[{}]", path_, i), (*value_)[i]);
  return out;
}

std::vector<Field> Field::one_or_more() const {
  if (value_->is_array()) return items();
  return {*this};
}

Object::Object(Field field, const std::vector<std::string>& known) : field_(std::move(field)) {
  if (!field_.json().is_object()) field_.refuse("an object with the fields " + joined(known));
  for (const auto& [name, value] : field_.json().items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    field_.inside(name, value).refuse("unknown field" + did_you_mean(name, known) + "; accepted: " + joined(known));
  }
}

std::optional<Field> Object::find(const std::string& name) const {
  const auto found = field_.json().find(name);
  if (found == field_.json().end()) return std::nullopt;
  return field_.inside(name, *found);
}

Field Object::need(const std::string& name) const {
  if (auto found = find(name)) return *found;
  throw BadInput(field_.file(), field_.inside(name, field_.json()).path(), "", "this field is missing");
}

std::vector<std::pair<std::string, Field>> Object::members() const {
  std::vector<std::pair<std::string, Field>> out;
  for (const auto& [name, value] : field_.json().items()) out.emplace_back(name, field_.inside(name, value));
  return out;
}

void need_schema_version_1(const Object& document) {
  const Field version = document.need("schema_version");
  if (!version.json().is_number() || version.json() != 1) version.refuse("this version reads schema_version 1");
}

}  // namespace ropewalk
