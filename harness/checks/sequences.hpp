// One sequence of a batch out of tensors and enclosures of all of it.
#pragma once

#include <vector>

#include "harness/cases/exact_attention.hpp"
#include "reference/enclosures.hpp"

namespace ropewalk {

// Values [batch, keys, kv_heads, dim] of one sequence, at all heads.
std::vector<double> values_at_all_heads(const std::vector<double>& values, const Case& problem, std::size_t batch);

void append(reference::Enclosures& all, const reference::Enclosures& part);
reference::Reals part_of(const reference::Enclosures& all, std::size_t batch, std::size_t size);

}  // namespace ropewalk
