#include "reference/lora_map.hpp"

#include <algorithm>
#include <stdexcept>

namespace ropewalk::reference {

std::vector<std::int64_t> lora_index(const LoraMap& map) {
  if (map.heads < 1 || map.groups < 1 || map.head_dim < 1 || map.heads % map.groups != 0)
    throw std::invalid_argument("a LoRA map needs heads, groups and head_dim from 1 on, and groups that divide heads");
  std::vector<std::int64_t> index;
  index.reserve(static_cast<std::size_t>(map.enabled()));
  const std::int64_t d = map.head_dim, q_heads = map.heads / map.groups, group_width = d * (q_heads + 2);
  std::int64_t first = 0;  // of the part, in the contiguous layout
  for (int part = 0; part < 3; ++part) {
    const std::int64_t size = map.size(part), width = size / map.groups;  // width: of the part within one group
    const std::int64_t offset = part == 0 ? 0 : d * (q_heads + part - 1);
    for (std::int64_t t = 0; map.enable[part] && t < size; ++t) {
      index.push_back(map.layout == LoraLayout::contiguous ? first + t : t / width * group_width + offset + t % width);
    }
    first += size;
  }
  return index;
}

std::vector<double> lora_pad(const LoraMap& map, std::span<const double> values) {
  const std::vector<std::int64_t> index = lora_index(map);
  if (index.empty() || values.size() % index.size() != 0)
    throw std::invalid_argument("what is padded has to have the map's enabled columns");
  const auto width = static_cast<std::size_t>(map.out());
  std::vector<double> padded(values.size() / index.size() * width);
  for (std::size_t row = 0; row * index.size() < values.size(); ++row)
    for (std::size_t e = 0; e < index.size(); ++e)
      padded[row * width + static_cast<std::size_t>(index[e])] = values[row * index.size() + e];
  return padded;
}

}  // namespace ropewalk::reference
