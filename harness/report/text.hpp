// Text from outside (a program's stderr, a file's name) made safe for a terminal and for XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ropewalk {

// Valid UTF-8 without control characters: those, and bytes that are not UTF-8, are spelled out as \x1b. Line feed,
// carriage return and tab stay when `keep_lines`.
std::string printable(std::string_view text, bool keep_lines = false);
// printable, line breaks and runs of spaces as one space, and no more than `most` characters: longer ones end in "...".
std::string one_line(std::string_view text, std::size_t most);
// As a shell takes a path: in quotes where it must be; and back.
std::string quoted(const std::string& path);
std::string unquoted(const std::string& word);
// "1 case", "2 cases"
std::string counted(std::size_t count, std::string_view noun);

}  // namespace ropewalk
