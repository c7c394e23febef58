// Scaled frequencies and amplitudes as Arb computes them, by other formulas than the reference's.
#pragma once

#include "reference/scaling.hpp"
#include "tests/reference/arb_oracle.hpp"

namespace ropewalk::reference {

std::vector<ArbReal> scaled_reals(double base, int dim, const Scaling& scaling);
ArbReal amplitude_real(const Scaling& scaling);

}  // namespace ropewalk::reference
