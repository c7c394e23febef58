// A JSON document from a file, or one line that says where it breaks.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace ropewalk {

using Json = nlohmann::ordered_json;  // keeps fields in the order in which they were written

// Throws BadInput: no such file, a folder, unreadable, empty, a syntax error (with line and column), a number beyond
// float64, a field given twice.
// What is deeper in each other is refused: the library prints, copies and compares by recursion.
inline constexpr int kDeepestJson = 100;

Json read_json_file(const std::filesystem::path& file);

}  // namespace ropewalk
