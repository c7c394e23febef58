// The same attention given in another way: its exact value stays, the order of operations or the shapes change.
//   single    each entry of the batch alone
//   decode    one query after the other, each with the keys up to its own (a cache)
//   padded    three more keys at the right, hidden by the mask
//   packed    the entries of the batch as one sequence, a mask between them, positions from the start again
//   shifted   every position 64 further on: only differences matter
//   permuted  channels in the order of the other pairing, for a recipe of that pairing
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/subjects/subject.hpp"

namespace ropewalk {

struct Presented {
  Case problem;
  Stages inputs;
};
// What the subject is given, one after the other. Throws SubjectUnsupported where the problem has no such variant.
std::vector<Presented> present(const std::string& variant, const Case& problem, const Stages& inputs);
// Stages of all pieces as those of the problem; what has no counterpart is left out.
Stages gathered(const std::string& variant, const Case& problem, const std::vector<Stages>& pieces);

// Whether limits are to be derived from the problem as it is presented: other positions, another order of channels.
bool has_own_limits(const std::string& variant);

std::unique_ptr<Subject> make_variant_subject(const std::string& variant, std::unique_ptr<Subject> inner);

}  // namespace ropewalk
