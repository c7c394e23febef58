// The first two tiers of attention: whole blocks of rows by the kernels, with bounds that are known beforehand.
#pragma once

#include <functional>

#include "reference/attention.hpp"
#include "reference/attention_kernels.hpp"

namespace ropewalk::reference {

// The rows first <= query < last of one head.
struct HeadRows {
  int head;
  std::int64_t first, last;
};
using RowVisitor = std::function<void(int head, std::int64_t query)>;

// attention_output's numbers for some rows of each head (all, where `rows` is empty), by these kernels; inputs must
// have been checked, and output has its size. Rows whose bound says nothing are left out and given to `hopeless`; if
// that is empty they get the trivial bound.
AttentionProof attention_by(const AttentionKernels& kernels, const Attention& attention, const AttentionInputs& inputs,
                            Accuracy accuracy, std::span<const HeadRows> rows, Enclosures& output,
                            const RowVisitor& hopeless);

}  // namespace ropewalk::reference
