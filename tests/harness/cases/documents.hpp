// Documents under test: a good one, changed in one place, written to a file of its own.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/bad_input.hpp"

namespace ropewalk::test {

using Json = nlohmann::ordered_json;

// A folder that goes when the test ends.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("ropewalk-XXXXXX")) {
    std::string name = path_.string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

// `changes`: JSON pointer to a new value; null removes the field.
inline Json changed(const char* good, const char* changes) {
  Json document = Json::parse(good);
  const Json wanted = Json::parse(changes);
  for (const auto& [pointer, value] : wanted.items()) {
    const Json::json_pointer at(pointer);
    if (value.is_null())
      document.at(at.parent_pointer()).erase(at.back());
    else
      document[at] = value;
  }
  return document;
}

// The line that a BadInput carries, without the folder; what else happens, in brackets.
inline std::string complaint(const Folder& folder, const std::function<void()>& read) {
  try {
    read();
  } catch (const BadInput& e) {
    std::string line = e.what();
    const std::string prefix = folder.path().string() + "/";
    if (line.rfind(prefix, 0) == 0) line = line.substr(prefix.size());
    return line;
  } catch (const std::exception& e) {
    return std::string("[another exception: ") + e.what() + "]";
  }
  return "[no complaint]";
}

}  // namespace ropewalk::test
