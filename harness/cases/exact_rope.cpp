#include "harness/cases/exact_rope.hpp"

namespace ropewalk {

reference::Frequencies frequencies_of(const Rope& rope) {
  return reference::Frequencies::powers(rope.base, static_cast<int>(rope.rotary_dim()));
}

}  // namespace ropewalk
