// Correct rounding of the stages of attention, ties to even, from enclosures in double-double: how an element is proved
// is the same on every machine, other than with attention_rounded's tiers. docs/numerics.md, 3.7.
#pragma once

#include <span>

#include "reference/attention.hpp"
#include "reference/table.hpp"

namespace ropewalk::reference {

// Each counts: exact (known without rounding: hidden keys), fast (the enclosure decides), fallback (MPFR decides), and
// among all these midpoints that are ties; undecided as in AttentionProof. Inputs must be exact and finite, else
// std::invalid_argument; so for shapes that do not fit. Shapes are attention_scores', attention_output's.
Proof attention_scores_rounded(const Attention& attention, const AttentionInputs& inputs, Format format,
                               std::span<double> scores);
Proof attention_probabilities_rounded(const Attention& attention, const AttentionInputs& inputs, Format format,
                                      std::span<double> probabilities);
Proof attention_output_rounded(const Attention& attention, const AttentionInputs& inputs, Format format,
                               std::span<double> output);

}  // namespace ropewalk::reference
