// JSON Schema (draft 2020-12, the part that reports/*.schema.json use): what is wrong with a document, in words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ropewalk {

// One line an error, "results[3].verdict: "green": one of "pass", "fail"". Empty: the document is valid.
//
// Understood: type, enum, const, properties, patternProperties, propertyNames, required, dependentRequired,
// additionalProperties, minProperties, maxProperties, items, prefixItems, contains, minItems, maxItems, uniqueItems,
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, $ref ("#..."),
// allOf, anyOf, oneOf, not, if/then/else; titles and other annotations are passed over. A schema with any other keyword
// throws std::invalid_argument: what is not understood must not count as checked.
std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& document);

// The schema that reports/NAME.schema.json held when this program was built; throws std::invalid_argument.
nlohmann::json schema_named(std::string_view name);
// Names of all built-in schemas.
std::vector<std::string> schema_names();

}  // namespace ropewalk
