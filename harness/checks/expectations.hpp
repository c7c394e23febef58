// Was every verdict as the case expects?
#pragma once

#include <vector>

#include "harness/cases/case.hpp"
#include "harness/report/result.hpp"

namespace ropewalk {

// Expected verdict and `unexpected` of results that say what they expect themselves.
void settle(Result& result, const CheckSpec& check);

// A check that expects a bare "fail" is met when any of its results over the whole declared case fails. `results` are
// all of one check; `whole` is false when only some of them were run (a filter): then nothing can be said of those.
void settle_any_fail(std::vector<Result*> results, const CheckSpec& check, bool whole);

}  // namespace ropewalk
