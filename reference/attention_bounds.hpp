// How far off the first two tiers may be, known before they run. Derivations and sources: docs/numerics.md, 3.4
// and 3.5.
#pragma once

namespace ropewalk::reference {

// Of one row. Norms are Euclidean, those of keys the largest of any key that the row may see.
struct RowTerms {
  double scale = 0, softcap = 0;  // |scale|; 0: no softcap
  double head_dim = 0, keys = 0;
  double q = 0, k = 0;              // norms
  double q_error = 0, k_error = 0;  // norms of what the numbers used leave out of the real ones
  double bias = 0, slope = 0;       // largest |bias| or |sink| after the move; largest |slope (j - p)|
  bool exact_products = false;      // every partial sum of q k is a double
  double cross = 0;                 // second tier: |q_high| |k_low| + |q_low| |k|
  double rest = 0;                  // second tier: sum of the weights' second slices / sum of the weights
};

// Errors of the output, relative to the largest |v| of the channel.
double tier1_error(const RowTerms& row);
double tier2_error(const RowTerms& row);
// What the second tier's error has beside, relative to the largest |v_low|.
double tier2_value_error(double keys);

}  // namespace ropewalk::reference
