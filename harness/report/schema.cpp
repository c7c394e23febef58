#include "harness/report/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <unordered_set>

#include "harness/report/text.hpp"

namespace ropewalk {
namespace {

using Json = nlohmann::json;

struct Error {
  std::string path, message;
};
using Errors = std::vector<Error>;

// The value of a keyword; null, over which a loop makes no step, if it is absent.
const Json& part(const Json& schema, const char* keyword) {
  static const Json none;
  const auto found = schema.find(keyword);
  return found == schema.end() ? none : *found;
}

std::string shown(const Json& value) {
  if (value.is_object() && !value.empty()) return "{...}";
  if (value.is_array() && !value.empty()) return "[...]";
  return one_line(value.dump(-1, ' ', false, Json::error_handler_t::replace), 80);
}

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : separator) + word;
  return out;
}

std::vector<std::string> names_of(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : object.items()) names.push_back(name);
  return names;
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type != "integer") throw std::invalid_argument("JSON schema: unknown type " + type);
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>();  // 1.0 is one too
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, Errors& errors) {
    if (schema == false) add(errors, shown(value) + ": nothing is accepted here");
    if (schema.is_boolean()) return;
    if (understood_.insert(&schema).second) refuse_unknown_keywords(schema);
    if (const auto reference = schema.find("$ref"); reference != schema.end())
      check(resolve(reference->get_ref<const std::string&>()), value, errors);
    if (!type_fits(schema, value, errors)) return;  // all else would only repeat it
    check_values(schema, value, errors);
    if (value.is_number()) check_number(schema, value.get<double>(), errors);
    if (value.is_string()) check_string(schema, value.get_ref<const std::string&>(), errors);
    if (value.is_array()) check_array(schema, value, errors);
    if (value.is_object()) check_object(schema, value, errors);
    check_combined(schema, value, errors);
  }

 private:
  void add(Errors& errors, std::string message) const { errors.push_back({path_, std::move(message)}); }

  // Runs `action` with the path of a field or an item of the present value.
  template <class Step, class Action>
  void at(const Step& step, Action action) {
    const std::size_t size = path_.size();
    append(step);
    action();
    path_.resize(size);
  }
  void append(std::size_t index) { path_ += "[" + std::to_string(index) + "]"; }
  void append(const std::string& name) {
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
    path_ += plain ? (path_.empty() ? "" : ".") + name : "[" + shown(name) + "]";
  }

  static void refuse_unknown_keywords(const Json& schema) {
    static const std::set<std::string> known{"$schema",
                                             "$id",
                                             "$comment",
                                             "$defs",
                                             "title",
                                             "description",
                                             "default",
                                             "examples",
                                             "deprecated",
                                             "$ref",
                                             "type",
                                             "enum",
                                             "const",
                                             "properties",
                                             "required",
                                             "patternProperties",
                                             "propertyNames",
                                             "minProperties",
                                             "maxProperties",
                                             "dependentRequired",
                                             "items",
                                             "prefixItems",
                                             "contains",
                                             "additionalProperties",
                                             "minItems",
                                             "maxItems",
                                             "uniqueItems",
                                             "minimum",
                                             "maximum",
                                             "multipleOf",
                                             "exclusiveMinimum",
                                             "exclusiveMaximum",
                                             "minLength",
                                             "maxLength",
                                             "pattern",
                                             "allOf",
                                             "anyOf",
                                             "oneOf",
                                             "not",
                                             "if",
                                             "then",
                                             "else"};
    if (!schema.is_object()) throw std::invalid_argument("JSON schema: an object or a boolean is needed");
    for (const std::string& keyword : names_of(schema))
      if (!known.contains(keyword))
        throw std::invalid_argument("JSON schema: the keyword " + keyword + " is not understood");
  }

  const Json& resolve(const std::string& reference) {
    if (const auto known = references_.find(reference); known != references_.end()) return *known->second;
    if (reference.empty() || reference[0] != '#')
      throw std::invalid_argument("JSON schema: only references into the same file are understood: " + reference);
    try {
      return *references_.emplace(reference, &root_.at(Json::json_pointer(reference.substr(1)))).first->second;
    } catch (const Json::exception&) {
      throw std::invalid_argument("JSON schema: " + reference + " points nowhere");
    }
  }

  bool type_fits(const Json& schema, const Json& value, Errors& errors) const {
    const Json& type = part(schema, "type");
    if (type.is_null()) return true;
    std::vector<std::string> accepted;
    for (const Json& name : type.is_array() ? type : Json::array({type})) {
      if (has_type(value, name)) return true;
      accepted.push_back(name);
    }
    add(errors, fmt::format("{}: {} is needed", shown(value), joined(accepted, " or ")));
    return false;
  }

  void check_values(const Json& schema, const Json& value, Errors& errors) const {
    const auto only = schema.find("const");
    if (only != schema.end() && *only != value)
      add(errors, fmt::format("{}: only {} is accepted", shown(value), shown(*only)));
    const auto accepted = schema.find("enum");
    if (accepted == schema.end() || std::find(accepted->begin(), accepted->end(), value) != accepted->end()) return;
    std::vector<std::string> words;
    std::transform(accepted->begin(), accepted->end(), std::back_inserter(words), shown);
    add(errors, fmt::format("{}: one of {}", shown(value), joined(words, ", ")));
  }

  void check_number(const Json& schema, double value, Errors& errors) const {
    const auto bound = [&](const char* keyword, const char* words, auto holds) {
      const Json& limit = part(schema, keyword);
      if (limit.is_null() || holds(value, limit.get<double>())) return;
      add(errors, fmt::format("{}: {} {} is needed", value, words, shown(limit)));
    };
    bound("minimum", "at least", std::greater_equal<>());
    bound("maximum", "at most", std::less_equal<>());
    bound("exclusiveMinimum", "more than", std::greater<>());
    bound("exclusiveMaximum", "less than", std::less<>());
    bound("multipleOf", "a multiple of", [](double v, double step) { return std::fmod(v, step) == 0; });
  }

  // `what`: what is counted, for the message.
  void check_count(const Json& least, const Json& most, std::size_t count, const char* what, Errors& errors) const {
    if (!least.is_null() && count < least.get<std::size_t>())
      add(errors, fmt::format("{} {}: at least {} needed", count, what, shown(least)));
    if (!most.is_null() && count > most.get<std::size_t>())
      add(errors, fmt::format("{} {}: at most {} accepted", count, what, shown(most)));
  }

  void check_string(const Json& schema, const std::string& text, Errors& errors) {
    check_count(part(schema, "minLength"), part(schema, "maxLength"), characters(text), "characters", errors);
    const Json& pattern = part(schema, "pattern");
    if (!pattern.is_null() && !matches(text, pattern))
      add(errors, fmt::format("{}: text of the form {} is needed", shown(text), shown(pattern)));
  }

  bool matches(const std::string& text, const std::string& pattern) {
    const auto [entry, is_new] = patterns_.try_emplace(pattern);
    if (is_new) entry->second = std::regex(pattern);
    return std::regex_search(text, entry->second);
  }

  void check_array(const Json& schema, const Json& list, Errors& errors) {
    check_count(part(schema, "minItems"), part(schema, "maxItems"), list.size(), "items", errors);
    const Json &prefix = part(schema, "prefixItems"), &items = part(schema, "items");
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i >= prefix.size() && items.is_null()) break;
      at(i, [&] { check(i < prefix.size() ? prefix[i] : items, list[i], errors); });
    }
    const Json& wanted = part(schema, "contains");
    if (!wanted.is_null() &&
        std::none_of(list.begin(), list.end(), [&](const Json& item) { return fits(wanted, item); }))
      add(errors, "none of the items is the one that is needed");
    if (part(schema, "uniqueItems") != true) return;
    for (auto item = list.begin(); item != list.end(); ++item)
      if (std::find(list.begin(), item, *item) != item)
        at(static_cast<std::size_t>(item - list.begin()),
           [&] { add(errors, shown(*item) + ": each item may stand only once"); });
  }

  void check_object(const Json& schema, const Json& object, Errors& errors) {
    check_count(part(schema, "minProperties"), part(schema, "maxProperties"), object.size(), "fields", errors);
    const auto needs = [&](const std::string& name, const std::string& why) {
      if (!object.contains(name)) at(name, [&] { add(errors, "this field is needed" + why); });
    };
    for (const Json& name : part(schema, "required")) needs(name, "");
    for (const auto& [name, others] : part(schema, "dependentRequired").items())
      for (const Json& other : others)
        if (object.contains(name)) needs(other, " beside " + name);
    for (auto field = object.begin(); field != object.end(); ++field)
      at(field.key(), [&] { check_field(schema, field.key(), *field, errors); });
  }

  void check_field(const Json& schema, const std::string& name, const Json& value, Errors& errors) {
    if (const Json& names = part(schema, "propertyNames"); !names.is_null()) check(names, name, errors);
    const Json& properties = part(schema, "properties");
    const auto property = properties.find(name);
    bool declared = property != properties.end();
    if (declared) check(*property, value, errors);
    for (const auto& [pattern, sub] : part(schema, "patternProperties").items()) {
      if (!matches(name, pattern)) continue;
      declared = true;
      check(sub, value, errors);
    }
    const Json& additional = part(schema, "additionalProperties");
    if (declared || additional.is_null()) return;
    if (additional != false) return check(additional, value, errors);
    const std::string accepted = joined(names_of(properties), ", ");
    add(errors, "unknown field" + (accepted.empty() ? "" : "; accepted here: " + accepted));
  }

  void check_combined(const Json& schema, const Json& value, Errors& errors) {
    for (const Json& sub : part(schema, "allOf")) check(sub, value, errors);
    for (const char* keyword : {"anyOf", "oneOf"})
      if (const Json& alternatives = part(schema, keyword); !alternatives.is_null())
        check_alternatives(alternatives, keyword, value, errors);
    if (const Json& refused = part(schema, "not"); !refused.is_null() && fits(refused, value))
      add(errors, shown(value) + " is not accepted");
    const Json& condition = part(schema, "if");
    if (condition.is_null()) return;
    const Json& branch = part(schema, fits(condition, value) ? "then" : "else");
    if (!branch.is_null()) check(branch, value, errors);
  }

  // If none fits, one that fails inside the value and not at the value itself is the one that was meant.
  void check_alternatives(const Json& alternatives, const std::string& keyword, const Json& value, Errors& errors) {
    std::size_t fitting = 0;
    std::vector<Errors> meant;
    std::vector<std::string> refusals;
    for (const Json& alternative : alternatives) {
      Errors own;
      check(alternative, value, own);
      if (own.empty())
        ++fitting;
      else if (std::any_of(own.begin(), own.end(), [&](const Error& e) { return e.path == path_; }))
        refusals.push_back(own.front().message);
      else
        meant.push_back(std::move(own));
    }
    if (fitting == 1 || (fitting > 1 && keyword == "anyOf")) return;
    if (fitting > 1)
      add(errors, fmt::format("{}: fits {} alternatives, exactly one is needed", shown(value), fitting));
    else if (meant.size() == 1)
      std::move(meant[0].begin(), meant[0].end(), std::back_inserter(errors));
    else if (!meant.empty())
      add(errors, fmt::format("{}: fits none of {} alternatives", shown(value), alternatives.size()));
    else
      add(errors, joined(refusals, "; or "));
  }

  bool fits(const Json& schema, const Json& value) {
    Errors errors;
    check(schema, value, errors);
    return errors.empty();
  }

  const Json& root_;
  std::string path_;                            // of the present value
  std::unordered_set<const Json*> understood_;  // parts of the schema whose keywords are known
  std::map<std::string, const Json*> references_;
  std::map<std::string, std::regex> patterns_;
};

}  // namespace

std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& document) {
  Errors errors;
  Validator(schema).check(schema, document, errors);
  std::vector<std::string> lines;
  lines.reserve(errors.size());
  for (const Error& error : errors) lines.push_back((error.path.empty() ? "" : error.path + ": ") + error.message);
  return lines;
}

}  // namespace ropewalk
