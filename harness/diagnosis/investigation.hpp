// One-off: tensors that somebody has, against the reference, with where they go wrong and what is known to do that.
#pragma once

#include <string>
#include <vector>

#include "harness/diagnosis/dump.hpp"
#include "harness/diagnosis/identify.hpp"
#include "harness/diagnosis/judge.hpp"

namespace ropewalk {

struct Investigation {
  Dump dump;
  std::string claims;
  Judgement judgement;
  Identification identification;
  Verdict verdict = Verdict::pass;
  std::string first_stage;  // where to look; empty when nothing is off
  std::string how_known;    // how the stage is known, in words
};

// claims: the recipe by whose limits the tensors are judged.
Investigation investigate(Dump dump, const std::string& claims);

}  // namespace ropewalk
