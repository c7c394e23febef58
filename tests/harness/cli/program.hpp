// Runs the built program as a user does, and catches what it prints.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace ropewalk {

struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of this process alone, removed at its end.
inline std::filesystem::path scratch() {
  struct Folder {
    std::filesystem::path path;
    Folder() {
      std::string name = (std::filesystem::temp_directory_path() / "ropewalk-cli-XXXXXX").string();
      path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static const Folder folder;
  return folder.path;
}

inline Outcome shell(const std::string& command) {
  const auto out = scratch() / "stdout", err = scratch() / "stderr";
  const int status = std::system(("( " + command + " ) >" + out.string() + " 2>" + err.string()).c_str());  // NOLINT
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

inline Outcome ropewalk_says(const std::string& arguments) { return shell(ROPEWALK_PROGRAM " " + arguments); }

inline std::string case_file(const std::string& name) { return std::string(ROPEWALK_TEST_DIR "/data/cases/") + name; }

}  // namespace ropewalk
