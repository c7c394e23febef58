// What the numbers of a report were made with.
#pragma once

#include <filesystem>
#include <string>

#include "harness/report/result.hpp"

namespace ropewalk {

Environment this_environment(int threads, std::uint64_t seed);
double seconds_now();                                                         // of a clock that only moves forward
void write_text(const std::filesystem::path& path, const std::string& text);  // throws BadInput

}  // namespace ropewalk
