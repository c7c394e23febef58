// Golden rotations of queries and keys, and attention over them.
#pragma once

#include "harness/golden/golden.hpp"

namespace ropewalk {

// Of a case with an attention block; its inputs are keyed by the case's id and seed. Throws BadInput where the problem
// is larger than what can be proved in reasonable time.
GoldenFile golden_attention(const Case& problem);

}  // namespace ropewalk
