// The loops of attention over one block of query rows, compiled for each instruction set: Eigen chooses its
// instructions when it is compiled. What they compute and how far off it is: docs/numerics.md, section 3.
#pragma once

#include <cstdint>
#include <span>

#include "reference/double_double.hpp"
#include "reference/exponential.hpp"

namespace ropewalk::reference {

constexpr int kBlockRows = 96;   // query rows in a block: whole panels of Eigen's products, which are 24 or 12 rows
constexpr int kBlockKeys = 128;  // products of weights and values that are summed exactly: 2^7 times 2^23 2^23
constexpr int kValueBits = 23;

struct Entry {  // of a sparse matrix
  int row, column;
  double value;
};
// Row-major [rows][columns]: all entries, or only those that are not 0, sorted by row; entries count rows from
// `origin`.
struct Low {
  const double* dense;  // null: the entries
  const Entry* entries;
  std::int64_t count;
  int origin;
};

// Plain pointers: no function of the standard library may be compiled for an instruction set that the machine lacks.
struct AttentionBlock {
  int rows, keys, dim, values;
  const double *q, *k, *v;                 // row-major [rows][dim], [keys][dim], [keys][values]
  const double *q_high, *k_high, *v_high;  // leading slices of them, for the second tier
  Low q_low, k_low, v_low;                 // what the slices leave
  const double *first, *last;              // [rows]: keys first <= j < last are seen
  const double *bias, *bias_low;           // [keys][rows], -infinity hides; null: none
  DoubleDouble scale;
  double softcap;  // 0: none
  DoubleDouble inverse_softcap;
  const double *sink, *sink_low;  // [rows], -infinity: none
  double *weights, *weights_low;  // room for [keys][rows]; the second for the second tier
  double* part;                   // room for [values][rows]
  double *head, *tail;            // out [values][rows]; the tail of the second tier
  double *sum, *rest;             // out [rows]: of the weights, and of the second slices' absolute values
  const ExponentialTable* table;
};

using AttentionKernel = void (*)(const AttentionBlock&);
struct AttentionKernels {
  const char* name;
  AttentionKernel tier1, tier2;
};

// Those that this processor can run, the fastest first. Never empty.
std::span<const AttentionKernels> attention_kernels();

}  // namespace ropewalk::reference
