// What a Markdown file shows, for tests that run it.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ropewalk {

// The texts between ```language and ```.
inline std::vector<std::string> blocks(const std::string& file, const std::string& language) {
  std::ifstream stream(file);
  std::vector<std::string> out;
  bool open = false, wanted = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("```", 0) == 0) {
      open = !open;
      wanted = open && line.substr(3) == language;
      if (wanted) out.emplace_back();
    } else if (wanted) {
      out.back() += line + "\n";
    }
  }
  return out;
}

}  // namespace ropewalk
