// The columns of a LoRA update [rows, in_columns] at their places in [rows, out_columns], zeros elsewhere.
#pragma once

#include "harness/devices/cuda_kernels/arithmetic.hpp"

namespace ropewalk::kernels {

struct PadArguments {
  const void* x;
  void* out;                   // zeros before PadByIndex
  const std::int64_t* index;   // [in_columns]: where each goes
  const std::int64_t* slices;  // [slice_count, 3]: first column of x, first column of out, length
  std::int64_t rows, in_columns, out_columns, slice_count;
};

template <class T>
struct PadByIndex {
  PadArguments a;
  std::int64_t count() const { return a.rows * a.in_columns; }

  ROPEWALK_BODY void operator()(std::int64_t i) const {
    const std::int64_t row = i / a.in_columns, column = i % a.in_columns;
    static_cast<T*>(a.out)[row * a.out_columns + a.index[column]] = static_cast<const T*>(a.x)[i];
  }
};

template <class T>
struct PadBySlices {
  PadArguments a;
  std::int64_t count() const { return a.rows * a.out_columns; }

  ROPEWALK_BODY void operator()(std::int64_t i) const {
    const std::int64_t row = i / a.out_columns, column = i % a.out_columns;
    T value{};
    for (std::int64_t s = 0; s < a.slice_count; ++s) {
      const std::int64_t offset = column - a.slices[3 * s + 1];
      if (offset >= 0 && offset < a.slices[3 * s + 2])
        value = static_cast<const T*>(a.x)[row * a.in_columns + a.slices[3 * s] + offset];
    }
    static_cast<T*>(a.out)[i] = value;
  }
};

}  // namespace ropewalk::kernels
