// Golden tables: cosine and sine, exact from base and scaling, and exact from an inv_freq that is stored as float32.
// Positions may be on several axes.
#pragma once

#include "harness/golden/golden.hpp"
#include "harness/golden/rows.hpp"

namespace ropewalk {

struct TableProblem {
  Rope rope;               // all of its head turns
  std::vector<Rows> axes;  // of each axis, or one for all
  std::int64_t rows() const { return axes[0].size(); }
  DType dtype = DType::float32;
};

// Its make() throws std::invalid_argument for frequencies that float32 cannot hold, and where the scaling is not
// defined.
GoldenFile golden_table(const TableProblem& problem);

}  // namespace ropewalk
