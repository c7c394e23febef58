// One declared case from its text to its results.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "harness/checks/run_case.hpp"
#include "tests/harness/cases/documents.hpp"

namespace ropewalk::test {

inline std::vector<Result> results_of(const std::string& problem, const std::string& dtype, const std::string& subjects,
                                      const std::string& checks) {
  const Folder folder;
  const auto file = folder.write("case.json", R"({"schema_version": 1, "name": "s", "cases": [{"name": "c", )" +
                                                  problem + R"(, "dtype": )" + dtype + R"(, "subjects": [)" + subjects +
                                                  R"(], "checks": [)" + checks + "]}]}");
  std::vector<Result> out;
  SubjectPool pool;
  const std::atomic<bool> stop{false};
  for (const Case& cell : read_case_file(file))
    for (Result& result : run_case(cell, plan(cell), pool, stop).results) out.push_back(std::move(result));
  return out;
}

inline std::string on_cpu(const std::string& recipe, const std::string& name) {
  return R"({"name": ")" + name + R"(", "recipe": ")" + recipe + R"(", "device": "cpu"})";
}

}  // namespace ropewalk::test
