// Golden folders under test: written to a folder of their own, with all their bytes to look at.
#pragma once

#include <fstream>
#include <map>
#include <string>

#include "harness/golden/verify.hpp"
#include "harness/golden/write.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {

inline std::string bytes_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::map<std::string, std::string> bytes_of_folder(const std::filesystem::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out[entry.path().filename().string()] = bytes_of_file(entry.path());
  return out;
}

// `cases` is the list of cases of a case file.
inline GoldenTotals write_cases(const Folder& folder, const std::string& cases, int jobs = 2,
                                const std::string& out = "out") {
  const auto file = folder.write(out + ".json", R"({"schema_version": 1, "name": "golden", "cases": )" + cases + "}");
  return write_goldens(read_golden_case_file(file), folder.path() / out, jobs, [] {});
}

inline std::vector<std::string> wrong_in(const std::filesystem::path& folder) {
  return verify_goldens(folder, read_manifest(folder), 2, [] {}).wrong;
}

inline constexpr const char* kSmall = R"([{"name": "a", "rope": {"head_dim": 4, "base": 10000, "max_position": 5},
                                           "dtype": "bfloat16"}])";
inline constexpr const char* kSmallFile = "a-head_dim=4,base=10000,max_position=5-bfloat16.safetensors";

}  // namespace ropewalk::test
