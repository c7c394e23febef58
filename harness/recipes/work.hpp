#pragma once

#include <cstdint>

namespace ropewalk {

// What a stage takes: counted over the steps of its recipe, not measured.
struct Work {
  std::int64_t operations = 0;  // elements written by steps that compute, times the products summed in each
  std::int64_t bytes = 0;       // read and written by all steps that are no views
  std::int64_t tensors = 0;     // results that do not share their elements with an operand
};

}  // namespace ropewalk
