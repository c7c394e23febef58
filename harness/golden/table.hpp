// Golden tables: cosine and sine, exact from the base, and exact from an inv_freq that is stored as float32.
#pragma once

#include "harness/golden/golden.hpp"
#include "harness/golden/rows.hpp"

namespace ropewalk {

struct TableProblem {
  std::int64_t rotary_dim = 0;
  double base = 10000;
  Rows rows;
  DType dtype = DType::float32;
};

// Its make() throws std::invalid_argument for a base whose frequencies float32 cannot hold.
GoldenFile golden_table(const TableProblem& problem);

}  // namespace ropewalk
