// The model with one operation changed, as array functions: to show that the figures notice. Each is cloned as the
// model is: surveys of many changes would take minutes with libm's FMA.
#pragma once

#include <span>

#include "harness/devices/cuda_math/sine.hpp"

namespace ropewalk::cuda_math {

template <Change change, std::uint32_t shift>
ROPEWALK_CLONES void changed(std::span<const float> in, std::span<float> out) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = sine<change>(in[i], shift);
}

template <Change change>
inline const std::array<void (*)(std::span<const float>, std::span<float>), 2> changed_functions = {changed<change, 0>,
                                                                                                    changed<change, 1>};

}  // namespace ropewalk::cuda_math
