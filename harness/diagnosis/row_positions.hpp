// Which position each row of a dump belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// "0..4095", "0..4095:64" (both ends included), "7,8,9", or a file with a tensor of positions. Throws BadInput.
std::vector<std::int64_t> read_positions_option(const std::string& text);

struct RowPositions {
  std::vector<std::int64_t> truth;
  bool chosen_by_tensor = false;  // the file's own numbers are taken as they are: they cannot be judged
  std::string note;               // what was decided, in words
};

// `in_file`: the file's positions [rows], or null. Whole numbers in at least 32 bits are taken as they are; numbers
// that are 0, 1, 2, ... but for what 16 bits can hold, or that are not whole, are a stage under test, and the rows are
// taken to be 0, 1, 2, ... Throws BadInput for negative and for huge positions.
RowPositions positions_of_rows(const std::string& file, std::int64_t rows, const Tensor* in_file,
                               const std::vector<std::int64_t>& given);

}  // namespace ropewalk
