// The schemas of reports/ as text inside the program.
#include <functional>
#include <map>
#include <stdexcept>

#include "harness/report/schema.hpp"

namespace ropewalk {
namespace {

const std::map<std::string, std::string_view, std::less<>>& built_in() {
  static const std::map<std::string, std::string_view, std::less<>> schemas{
#include "schemas.inc"
  };
  return schemas;
}

}  // namespace

nlohmann::json schema_named(std::string_view name) {
  const auto found = built_in().find(name);
  if (found == built_in().end()) throw std::invalid_argument("no schema is named " + std::string(name));
  return nlohmann::json::parse(found->second);
}

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : built_in()) names.push_back(name);
  return names;
}

}  // namespace ropewalk
