// How far off a recipe's results may be: a running error analysis (Higham 2002, section 3.3) on the numbers of the
// case. Every step is done in float64 on the values, and beside it on a bound of what roundings have done to them, for
// any order of summation. docs/numerics.md, "Limits of whole problems".
#pragma once

#include <map>
#include <string>

#include "harness/recipes/step.hpp"

namespace ropewalk {

struct Bounded {
  Tensor value, error;  // float64, of one shape: |computed - exact| <= error; error is empty for integers and flags
  DType dtype = DType::float32;
};
using BoundedValues = std::map<std::string, Bounded>;

Bounded exactly(const Tensor& tensor);  // as it is: no error

// Of one stage, from earlier results; adds the stage and its named results to `known`. Throws Refused for a step that
// has no bound. With `lambda` above 0 sums of n terms are allowed lambda sqrt(n) roundings, where that is less than n:
// this holds with probability 1 - 2 n exp(-lambda^2 / 2) for each sum if roundings are independent and of mean zero
// (Higham and Mary 2019, theorem 3.1).
Bounded bound_stage(const StageSteps& stage, BoundedValues& known, const DocumentedBounds& device, const Case& problem,
                    double lambda = 0);

}  // namespace ropewalk
