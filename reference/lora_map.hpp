// Which columns of a fused q, k, v projection a LoRA update fills. docs/numerics.md, section 4, has the definitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ropewalk::reference {

enum class LoraLayout {
  contiguous,  // all of q, then all of k, then all of v
  grouped      // for each key/value head: its q heads, its k head, its v head
};

struct LoraMap {
  std::int64_t heads = 1, groups = 1, head_dim = 1;  // q heads, k (and v) heads, width of each; groups divides heads
  bool enable[3] = {true, true, true};               // q, k, v
  LoraLayout layout = LoraLayout::contiguous;

  std::int64_t size(int part) const { return head_dim * (part == 0 ? heads : groups); }  // part 0 q, 1 k, 2 v
  std::int64_t out() const { return head_dim * (heads + 2 * groups); }
  int parts() const { return int{enable[0]} + int{enable[1]} + int{enable[2]}; }
  std::int64_t enabled() const {  // E
    std::int64_t sum = 0;
    for (int part = 0; part < 3; ++part) sum += enable[part] ? size(part) : 0;
    return sum;
  }
};

// pi: where each of the enabled columns 0 .. E-1 (q, k, v in this order, each ascending) goes among the `out` ones.
// Strictly by part in both layouts, also with all three enabled. Throws std::invalid_argument for impossible sizes.
std::vector<std::int64_t> lora_index(const LoraMap& map);

// Columns of [rows, E] scattered to [rows, out]; zero (+0) elsewhere.
std::vector<double> lora_pad(const LoraMap& map, std::span<const double> values);

}  // namespace ropewalk::reference
