// The frequencies themselves, correctly rounded with proof.
#pragma once

#include <vector>

#include "reference/table.hpp"

namespace ropewalk::reference {

// theta_j rounded to nearest, ties to even, for every pair. `proof` counts each: fast at the first precision, fallback
// at a higher one, exact where the value is known exactly (given numbers, and all with finitely many binary digits);
// midpoints among them; undecided where the search ended without proof (only numbers that are not known to be
// algebraic).
std::vector<double> rounded_frequencies(const Frequencies& frequencies, Format format, Proof& proof);

}  // namespace ropewalk::reference
