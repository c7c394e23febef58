// The tensors that somebody has, as stages of one problem, with all that had to be assumed for it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/subjects/subject.hpp"

namespace ropewalk {

// What is known beside the tensors. What is empty is taken from them.
struct Known {
  std::optional<double> base;
  std::optional<std::int64_t> head_dim;
  std::optional<double> partial_rotary_factor;
  reference::Scaling scaling;
  std::string source;                      // where these are from: "config.json", "--base"
  std::map<std::string, std::string> map;  // stage -> name in the file
  std::vector<std::int64_t> positions;     // of each row
  Rope several_axes;                       // what it says of them; one axis: nothing
  Positions on_axes;                       // then, of each row
  std::optional<DType> dtype;              // that the tables are meant to have
};

struct FoundStage {
  std::string stage, tensor, layout;
  DType dtype = DType::float32;
};

struct Dump {
  std::string file;
  Case problem;                     // rope, dtype, and the rows' positions in ascending order
  bool base_known = true;           // false: nobody said; it has to be fitted
  Stages stages;                    // as the checks read them, rows in the order of the positions
  bool positions_are_truth = true;  // false: the stage `positions` is the file's own and under test
  std::vector<FoundStage> found;
  std::vector<std::string> assumed;  // in words
  std::vector<std::string> defects;  // what is wrong whatever the values are meant to be, in words
};

// Throws BadInput for what cannot be understood as stages of one table.
Dump read_dump(const std::filesystem::path& file, const Known& known);

}  // namespace ropewalk
