// Numbers as reports carry them: exact, and with a spelling for NaN and infinity, which JSON does not have.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ropewalk {

// A JSON number with the fewest digits that read back to the same double; "NaN", "Infinity", "-Infinity" as strings.
nlohmann::ordered_json json_number(double value);
// The inverse. Anything else (null, a word) is NaN.
double number_in(const nlohmann::json& value);
// The same tree with every non-finite number replaced by its string.
nlohmann::ordered_json with_spelled_numbers(nlohmann::ordered_json tree);

std::string hex_float(double value);     // "0x1.8p+0": every bit of the value
std::string decimal(double value);       // "1.5": the fewest digits that read back to the same double
std::string short_number(double value);  // "1.2e-04": two digits, for people

}  // namespace ropewalk
