// One problem of each kind that attention knows: head maps, scales, masks, softcap, sinks, ALiBi, caches.
#pragma once

#include <string>
#include <vector>

#include "reference/attention.hpp"

namespace ropewalk::reference {

// Owns what the problem's spans look at.
struct AttentionVariant {
  std::string name;
  Attention problem;
  std::vector<double> mask, alibi, sinks;
  std::vector<std::uint8_t> allowed;

  Attention attention() const {
    Attention a = problem;
    a.mask = mask;
    a.alibi = alibi;
    a.sinks = sinks;
    a.allowed = allowed;
    return a;
  }
};

std::vector<AttentionVariant> attention_variants();

}  // namespace ropewalk::reference
