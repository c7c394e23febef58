// What a user gave us that we cannot use: one line that names the file, the field, the value and what is accepted.
#pragma once

#include <stdexcept>
#include <string>

namespace ropewalk {

// Caught in cli/ only; ends the program with exit code 2.
struct BadInput : std::runtime_error {
  BadInput(const std::string& file, const std::string& field, const std::string& value, const std::string& accepted)
      : std::runtime_error(file + ": " + (field.empty() ? "" : field + ": ") + (value.empty() ? "" : value + ": ") +
                           accepted) {}
};

}  // namespace ropewalk
