// A tensor as somebody stores it, brought to the shapes that the checks read: [rows, pairs], or one axis.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/tensors/tensor.hpp"

namespace ropewalk {

struct Arranged {
  Tensor values;
  std::string how;  // what was taken for what, in words
};

// [rows, columns]. The columns are the axis of one of these sizes (the last such; the last axis if none is given); the
// rows are the axis of `rows` entries, or several axes that make as many, or, if `rows` is 0, the one axis along which
// the values change. Every other axis must repeat the same bits. Throws BadInput for `field` of `file`.
Arranged as_matrix(const std::string& file, const std::string& field, const Tensor& tensor,
                   const std::vector<std::int64_t>& widths, std::int64_t rows);
// Whether as_matrix could find so many rows.
bool has_rows(const Tensor& tensor, std::int64_t rows);

// Its only axis of more than one entry; other axes of repeated bits go.
Arranged as_vector(const std::string& file, const std::string& field, const Tensor& tensor);

// One column a pair: as it is, the first half of a doubled table, or every other column of an interleaved one.
struct Paired {
  Tensor values;                     // [rows, pairs]
  std::string layout;                // "half width", "doubled", "interleaved"
  std::int64_t unequal = 0;          // entries that differ from the copy that the layout says they have
  std::int64_t row = 0, column = 0;  // the first of them
};
// pairs 0: not known; doubled and interleaved are then only what is so without exception.
Paired as_pairs(const Tensor& matrix, std::int64_t pairs);

// Cosines and sines out of one tensor: [..., 2], or the two halves of the last axis.
std::pair<Tensor, Tensor> split_cos_sin(const Tensor& tensor);

}  // namespace ropewalk
