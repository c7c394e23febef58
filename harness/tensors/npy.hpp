// NumPy's .npy: a magic word, a version, the length of a header, the header (a Python literal), the array's bytes.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string_view>

#include "harness/tensors/file_bytes.hpp"

namespace ropewalk {

inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};

// Versions 1, 2 and 3. An array in C order and little endian shares the bytes, any other is copied into that form.
// Throws BadInput for anything that the format does not allow and for element types that no tensor has: objects (which
// would be pickled Python), structures, texts, dates, other widths.
Tensor read_npy(const FileBytes& bytes);

}  // namespace ropewalk
