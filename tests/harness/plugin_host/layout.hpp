// Sizes and offsets of DLPack's structures: from ropewalk_plugin.h, and from the dlpack.h that LibTorch brings.
#pragma once

#include <array>
#include <cstddef>

#define ROPEWALK_DLPACK_LAYOUT                                                                               \
  std::array<std::size_t, 19> {                                                                              \
    sizeof(DLDevice), offsetof(DLDevice, device_id), sizeof(DLDataType), offsetof(DLDataType, bits),         \
        offsetof(DLDataType, lanes), sizeof(DLTensor), offsetof(DLTensor, device), offsetof(DLTensor, ndim), \
        offsetof(DLTensor, dtype), offsetof(DLTensor, shape), offsetof(DLTensor, strides),                   \
        offsetof(DLTensor, byte_offset), std::size_t(kDLCPU), std::size_t(kDLInt), std::size_t(kDLUInt),     \
        std::size_t(kDLFloat), std::size_t(kDLBfloat), std::size_t(kDLComplex), std::size_t(kDLBool)         \
  }

namespace ropewalk {

std::array<std::size_t, 19> layout_of_dlpack();

}  // namespace ropewalk
