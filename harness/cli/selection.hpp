// Which cells of which case files, and which of their results: what `run` and `list` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/checks/run_case.hpp"

namespace ropewalk {

struct Selection {
  std::vector<std::string> files;
  std::string filter;
  std::vector<std::string> devices;
  std::string shard = "1/1";
  int repeat = 1;
};

void add_selection(CLI::App& command, Selection& selection);

struct Cell {
  Case problem;
  std::vector<Planned> planned;
  bool whole = true;  // nothing of the declared case, in any of its cells, is left out
};

// Reads the files; cells without a planned result are left out. Throws BadInput, also for recipes and devices that do
// not exist.
std::vector<Cell> select(const Selection& selection);

}  // namespace ropewalk
