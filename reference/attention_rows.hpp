// Which keys a query sees, and what is added to their logits.
#pragma once

#include <cstdint>

#include "reference/attention.hpp"
#include "reference/double_double.hpp"

namespace ropewalk::reference {

// Throws std::invalid_argument where shapes or values do not fit.
void check(const Attention& attention, const AttentionInputs& inputs);

struct KeyRange {
  std::int64_t first = 0, last = 0;  // first <= j < last
};
// By causality and window alone.
KeyRange keys_of(const Attention& attention, std::int64_t query);

// Position p_i of a query among the keys.
std::int64_t position_of(const Attention& attention, std::int64_t query);

// Whether anything is added or hidden beside the range.
bool has_bias(const Attention& attention);
bool hidden(const Attention& attention, int head, std::int64_t query, std::int64_t key);
// The mask's number; 0 without a mask.
double mask_at(const Attention& attention, int head, std::int64_t query, std::int64_t key);

// A row's biases, moved by a common number so that the largest is about 0: softmax does not change.
struct RowBias {
  std::int64_t seen = 0;       // keys
  std::int64_t a_key = -1;     // one of them
  double largest = 0;          // of |bias| among those seen, after the move
  double slope_part = 0;       // the largest |slope (j - p_i)|
  DoubleDouble sink = {0, 0};  // moved as well; high -infinity: none
};
// Writes high and low [keys], each `stride` apart, -infinity where hidden; error <= 8 u^2 (|bias| + slope_part) of
// each.
RowBias bias_of(const Attention& attention, int head, std::int64_t query, KeyRange keys, double* high, double* low,
                std::int64_t stride);

// scale as double-double, relative error <= u^2.
DoubleDouble scale_of(const Attention& attention);

}  // namespace ropewalk::reference
