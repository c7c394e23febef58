// Typed access to the fields of a JSON document. Every refusal is a BadInput that names the file, the field as a path,
// its value and what is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/cases/json_file.hpp"

namespace ropewalk {

// A value with the path that leads to it. The document must outlive it.
class Field {
 public:
  Field(std::string file, std::string path, const Json& value);

  const Json& json() const { return *value_; }
  const std::string& file() const { return file_; }
  const std::string& path() const { return path_; }
  Field inside(const std::string& name, const Json& value) const;  // a field of this object
  Field at(const std::string& name) const;                         // the same; null where it is left out
  [[noreturn]] void refuse(const std::string& accepted) const;
  [[noreturn]] void refuse(const std::string& value, const std::string& accepted) const;

  std::string text() const;  // not empty
  std::string name() const;  // text that may be part of an id: no space, no / ~ ,
  double number() const;
  std::int64_t whole() const;  // also written as 64.0, as JSON Schema's "integer" has it
  bool flag() const;
  std::size_t choice(std::span<const std::string_view> names) const;  // index of the text among them
  std::vector<Field> items() const;                                   // of a list that is not empty
  std::vector<Field> one_or_more() const;  // the same, or the value itself when it is no list

 private:
  std::string file_, path_;
  const Json* value_;
};

// An object of which only these fields are known; the constructor refuses any other.
class Object {
 public:
  Object(Field field, const std::vector<std::string>& known);
  bool has(const std::string& name) const { return field_.json().contains(name); }
  std::optional<Field> find(const std::string& name) const;
  Field need(const std::string& name) const;
  const Field& field() const { return field_; }
  std::vector<std::pair<std::string, Field>> members() const;  // by name, in the order written

 private:
  Field field_;
};

void need_schema_version_1(const Object& document);

// ", did you mean X?" for the candidate that is most like `name`; empty when none is.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");
std::string plain(double number);  // 1000000, 0.5: never an exponent; the fewest digits that give the number back
Json plain_json(double number);    // an integer where the number is one

}  // namespace ropewalk
