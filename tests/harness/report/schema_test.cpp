// The schema checker itself: each keyword accepts what it should and names what it refuses.
#include "harness/report/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace ropewalk {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Refusal {
  const char *schema, *good, *bad, *message;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.schema; }

class SchemaKeyword : public ::testing::TestWithParam<Refusal> {};

TEST_P(SchemaKeyword, AcceptsTheGoodAndNamesTheBad) {
  const Refusal& p = GetParam();
  EXPECT_THAT(schema_errors(json::parse(p.schema), json::parse(p.good)), IsEmpty());
  EXPECT_THAT(schema_errors(json::parse(p.schema), json::parse(p.bad)), ElementsAre(p.message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, SchemaKeyword,
    ::testing::Values(
        Refusal{R"({"type": "string"})", R"("a")", "1", "1: string is needed"},
        Refusal{R"({"type": "integer"})", "3", "3.5", "3.5: integer is needed"},
        Refusal{R"({"type": "integer"})", "3.0", "true", "true: integer is needed"},
        Refusal{R"({"type": "number"})", "3", "\"3\"", "\"3\": number is needed"},
        Refusal{R"({"type": ["string", "null"]})", "null", "[]", "[]: string or null is needed"},
        Refusal{R"({"type": "boolean"})", "false", "0", "0: boolean is needed"},
        Refusal{R"({"enum": ["a", null, 1]})", "null", R"("b")", R"("b": one of "a", null, 1)"},
        Refusal{R"({"const": 1})", "1", "2", "2: only 1 is accepted"},
        Refusal{R"({"minimum": 1})", "1", "0.5", "0.5: at least 1 is needed"},
        Refusal{R"({"maximum": 1})", "1", "2", "2: at most 1 is needed"},
        Refusal{R"({"exclusiveMinimum": 0})", "1", "0", "0: more than 0 is needed"},
        Refusal{R"({"exclusiveMaximum": 1})", "0.5", "1", "1: less than 1 is needed"},
        Refusal{R"({"multipleOf": 2})", "4", "3", "3: a multiple of 2 is needed"},
        Refusal{R"({"minLength": 2})", R"("\u00e4\u00e4")", R"("\u00e4")", "1 characters: at least 2 needed"},
        Refusal{R"({"maxLength": 1})", R"("\u00e4")", R"("ab")", "2 characters: at most 1 accepted"},
        Refusal{R"({"pattern": "^a+$"})", R"("aa")", R"("ab")", R"("ab": text of the form "^a+$" is needed)"},
        Refusal{R"({"items": {"type": "number"}})", "[1, 2]", R"([1, "x"])", R"([1]: "x": number is needed)"},
        Refusal{R"({"prefixItems": [{"const": 1}], "items": {"const": 2}})", "[1, 2, 2]", "[2, 2]",
                "[0]: 2: only 1 is accepted"},
        Refusal{R"({"contains": {"const": 1}})", "[0, 1]", "[0]", "none of the items is the one that is needed"},
        Refusal{R"({"minItems": 1})", "[1]", "[]", "0 items: at least 1 needed"},
        Refusal{R"({"maxItems": 1})", "[1]", "[1, 2]", "2 items: at most 1 accepted"},
        Refusal{R"({"uniqueItems": true})", "[1, 2]", "[1, 2, 1]", "[2]: 1: each item may stand only once"},
        Refusal{R"({"required": ["a"]})", R"({"a": 1})", "{}", "a: this field is needed"},
        Refusal{R"({"dependentRequired": {"a": ["b"]}})", R"({"b": 1})", R"({"a": 1})",
                "b: this field is needed beside a"},
        Refusal{R"({"properties": {"a": {"type": "null"}}})", R"({"b": 1})", R"({"a": 1})", "a: 1: null is needed"},
        Refusal{R"({"properties": {"a": {}}, "additionalProperties": false})", R"({"a": 1})", R"({"b c": 1})",
                R"(["b c"]: unknown field; accepted here: a)"},
        Refusal{R"({"additionalProperties": {"type": "number"}})", R"({"a": 1})", R"({"a": {}})",
                "a: {}: number is needed"},
        Refusal{R"({"patternProperties": {"^x_": {"type": "number"}}, "additionalProperties": false})", R"({"x_1": 1})",
                R"({"x_1": "s"})", R"(x_1: "s": number is needed)"},
        Refusal{R"({"propertyNames": {"pattern": "^[a-z]+$"}})", R"({"a": 1})", R"({"A": 1})",
                R"(A: "A": text of the form "^[a-z]+$" is needed)"},
        Refusal{R"({"minProperties": 1})", R"({"a": 1})", "{}", "0 fields: at least 1 needed"},
        Refusal{R"({"maxProperties": 0})", "{}", R"({"a": 1})", "1 fields: at most 0 accepted"},
        Refusal{R"({"allOf": [{"minimum": 1}, {"maximum": 2}]})", "1.5", "3", "3: at most 2 is needed"},
        Refusal{R"({"anyOf": [{"minimum": 5}, {"const": 1}]})", "6", "2",
                "2: at least 5 is needed; or 2: only 1 is accepted"},
        Refusal{R"({"oneOf": [{"minimum": 5}, {"maximum": 7}]})", "3", "6",
                "6: fits 2 alternatives, exactly one is needed"},
        Refusal{R"({"not": {"const": 1}})", "2", "1", "1 is not accepted"},
        Refusal{R"({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}})",
                R"({"c": 1})", R"({"a": 1})", "b: this field is needed"},
        Refusal{R"({"if": {"required": ["a"]}, "else": {"required": ["c"]}})", R"({"a": 1})", R"({"b": 1})",
                "c: this field is needed"},
        Refusal{R"({"properties": {"a": false}})", "{}", R"({"a": 1})", "a: 1: nothing is accepted here"},
        Refusal{R"({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}})", "1", "[]", "[]: number is needed"},
        Refusal{R"({"properties": {"next": {"$ref": "#"}}, "additionalProperties": false})",
                R"({"next": {"next": {}}})", R"({"next": {"nxt": 1}})",
                "next.nxt: unknown field; accepted here: next"}));

TEST(Schema, ReportsEveryErrorWithItsPlace) {
  const json schema = json::parse(R"({"properties": {"list": {"items": {"properties": {"n": {"type": "number"}},
      "required": ["n", "m"]}}}})");
  const json document = json::parse(R"({"list": [{"n": 1, "m": 2}, {"n": "x"}]})");
  EXPECT_THAT(schema_errors(schema, document),
              ElementsAre("list[1].m: this field is needed", R"(list[1].n: "x": number is needed)"));
}

TEST(Schema, TellsOfTheAlternativeThatWasMeant) {
  const json schema = json::parse(R"({"oneOf": [{"type": "null"},
      {"type": "object", "properties": {"value": {"type": "number"}}}]})");
  EXPECT_THAT(schema_errors(schema, json::parse(R"({"value": "x"})")), ElementsAre(R"(value: "x": number is needed)"));
  EXPECT_THAT(schema_errors(schema, json::parse("3")), ElementsAre("3: null is needed; or 3: object is needed"));
}

TEST(Schema, KeywordsOfOtherTypesDoNotApply) {
  const json schema = json::parse(R"({"minimum": 1, "minLength": 9, "minItems": 9, "required": ["a"]})");
  EXPECT_THAT(schema_errors(schema, json(nullptr)), IsEmpty());
  EXPECT_THAT(schema_errors(schema, json(2)), IsEmpty());
}

TEST(Schema, WhatItDoesNotUnderstandIsNeverTakenForChecked) {
  for (const char* schema : {R"({"unevaluatedProperties": false})", R"({"requird": ["a"]})", R"({"type": "text"})",
                             R"({"$ref": "other.json#/a"})", R"({"$ref": "#/$defs/absent"})", R"({"allOf": [3]})"})
    EXPECT_THROW(schema_errors(json::parse(schema), json::object()), std::invalid_argument) << schema;
}

TEST(Schema, BuiltInSchemasAreTheFilesOfTheSourceTree) {
  EXPECT_THAT(schema_names(), ::testing::Contains("report"));
  for (const std::string& name : schema_names()) EXPECT_TRUE(schema_named(name).is_object()) << name;
  EXPECT_THROW(schema_named("absent"), std::invalid_argument);
}

}  // namespace
}  // namespace ropewalk
