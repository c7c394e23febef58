// The two orders of channels in use, and the permutation between them.
#pragma once

#include <vector>

#include "reference/rotation.hpp"

namespace ropewalk::reference {

// order[c] is the channel of `from` that stands at channel c of `to`, for a vector of head_dim channels of which the
// first `rotary` turn. Rotation by `to` of the vector so ordered is the rotation by `from`, so ordered: scores of
// queries and keys that are both ordered so are the same. Throws std::invalid_argument.
std::vector<int> channel_order(Pairing from, Pairing to, int head_dim, int rotary);

}  // namespace ropewalk::reference
