#include "harness/cases/exact_rope.hpp"

namespace ropewalk {

reference::Frequencies frequencies_of(const Rope& rope) {
  return reference::Frequencies::scaled(rope.base, static_cast<int>(rope.rotary_dim()), rope.scaling);
}

reference::Amplitude amplitude_of(const Rope& rope) { return reference::Amplitude::of(rope.scaling); }

reference::Table table_of(const Rope& rope) { return {frequencies_of(rope), amplitude_of(rope)}; }

}  // namespace ropewalk
