// Small cases for the tests of subjects.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/cases/case.hpp"

namespace ropewalk {

// Two pairs, base 10000: the frequencies are 1 and 0.01.
inline Case two_pairs(DType dtype, std::vector<std::int64_t> positions = {0, 1, 2}) {
  Case problem;
  problem.rope.head_dim = 4;
  problem.positions.list = std::move(positions);
  problem.dtype = dtype;
  return problem;
}

// A folder that goes with the object.
struct TestFolder {
  std::filesystem::path path;
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ropewalk-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
};

}  // namespace ropewalk
