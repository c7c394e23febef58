// The values in a pickle, without running anything: a class or function that the pickle names is looked up in a list of
// names that the caller allows, and a call of it is kept as a note of what was called with what.
// The format: CPython's Lib/pickletools.py.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/tensors/file_bytes.hpp"

namespace ropewalk {

struct PickleValue {
  enum class Kind { none, boolean, whole, real, text, tuple, list, dict, global, call, persistent };
  Kind kind = Kind::none;
  std::int64_t whole = 0;  // also of a boolean
  double real = 0;
  std::string text;                       // of a text; "module.name" of a global and of what a call calls
  std::vector<const PickleValue*> items;  // of a tuple, list; the tuple of a call's arguments; a persistent one's id
  std::vector<const PickleValue*> keys, values;  // of a dict, or set after a call that made one
};

// Values refer to each other, possibly in circles; they live as long as this.
struct Pickle {
  std::deque<PickleValue> values;
  const PickleValue* root = nullptr;
};

// Protocols 2 to 5. Throws BadInput for every global that is not allowed, by its name, and for every operation that
// plain data does not need. Of objects that calls made, only a dict's state is taken, and dropped.
Pickle read_pickle(const FileBytes& bytes, std::span<const std::string_view> allowed_globals);

}  // namespace ropewalk
