#include "harness/recipes/lora_lists.hpp"

#include <algorithm>

namespace ropewalk {
namespace {

using Rows = std::vector<std::int64_t>;

Rows segments(const std::array<std::int64_t, 3>& lengths, const Lora& lora) {
  Rows rows;
  std::int64_t start = 0;
  for (std::size_t part = 0; part < 3; start += lengths[part++])
    for (std::int64_t i = 0; i < lengths[part] && lora.enable[part]; ++i) rows.push_back(start + i);
  return rows;
}

// Each group holds its query heads, then one key head, then one value head.
Rows groups(const Lora& lora) {
  const std::int64_t queries = lora.heads / lora.groups;
  Rows rows;
  for (std::size_t part = 0; part < 3; ++part) {
    if (!lora.enable[part]) continue;
    for (std::int64_t row = 0; row < lora.out_size(); ++row) {
      const std::int64_t slot = row / lora.head_dim % (queries + 2);
      const std::size_t owner = slot < queries ? 0 : slot == queries ? 1 : 2;
      if (owner == part) rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

bool is_lora_list(Op op) {
  return op == Op::lora_rows || op == Op::segment_rows || op == Op::group_rows || op == Op::enabled_mask;
}

Tensor lora_list(Op op, std::span<const Argument> in, const Lora& lora) {
  if (op == Op::enabled_mask) {
    if (lora.q_size() != lora.kv_size()) throw Refused("three parts of equal size are needed: as many groups as heads");
    Tensor mask(DType::boolean, {lora.out_size()});
    const auto flags = mask.as<std::uint8_t>();
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = lora.enable[3 * i / flags.size()];
    return mask;
  }
  Rows rows;
  if (op == Op::segment_rows) {
    const auto length = [&](std::size_t i) { return static_cast<std::int64_t>(std::get<double>(in[i])); };
    rows = segments({length(0), length(1), length(2)}, lora);
  } else {
    const bool grouped = op == Op::group_rows || lora.layout == "grouped";
    rows = grouped ? groups(lora) : segments({lora.q_size(), lora.kv_size(), lora.kv_size()}, lora);
  }
  Tensor out(DType::int64, {static_cast<std::int64_t>(rows.size())});
  std::copy(rows.begin(), rows.end(), out.as<std::int64_t>().begin());
  return out;
}

}  // namespace ropewalk
