// gamma, the scale of a LoRA update, and rounding what it is a part of. docs/numerics.md, 4.3.
#pragma once

#include "reference/enclosed.hpp"
#include "reference/lora.hpp"
#include "reference/real.hpp"

namespace ropewalk::reference {

// gamma. Bound 0 where it is a sum of two doubles, as for powers of two r.
Enclosure enclosed(const LoraScale& scale);

struct ExactRounding {
  double value;  // in the format
  bool tie;      // the exact value lies midway between two numbers of the format
};

// base + gamma factor, both exact, rounded correctly.
ExactRounding round_update(Format format, const Real& base, const Real& factor, const LoraScale& scale);

}  // namespace ropewalk::reference
