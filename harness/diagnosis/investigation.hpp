// One-off: tensors that somebody has, against the reference, with where they go wrong and what is known to do that.
#pragma once

#include <string>
#include <vector>

#include "harness/diagnosis/dump.hpp"
#include "harness/diagnosis/explain_table.hpp"
#include "harness/diagnosis/identify.hpp"
#include "harness/diagnosis/judge.hpp"
#include "harness/diagnosis/one_frequency.hpp"

namespace ropewalk {

struct Investigation {
  Dump dump;
  std::string claims;
  Judgement judgement;
  Identification identification;
  OneFrequency one_frequency;         // only of tables without angles
  std::vector<Explained> explained;   // where nothing is identical: simple changes that explain the table
  std::optional<double> fitted_base;  // one of them is another base: what it then is identical to
  Identification at_fitted_base;
  Verdict verdict = Verdict::pass;
  std::string first_stage;  // where to look; empty when nothing is off
  std::string how_known;    // how the stage is known, in words
};

// claims: the recipe by whose limits the tensors are judged. Where nobody said the base, it is fitted; throws BadInput
// if none fits.
Investigation investigate(Dump dump, const std::string& claims);

}  // namespace ropewalk
