#include "harness/cases/problem.hpp"

#include <cmath>
#include <numeric>

namespace ropewalk {
namespace {

constexpr std::array<std::string_view, 5> kTable{"positions", "inv_freq", "angle", "cos", "sin"};
constexpr std::array<std::string_view, 13> kAttention{"positions", "inv_freq",  "angle",  "cos",           "sin",
                                                      "rotated_q", "rotated_k", "scores", "probabilities", "output",
                                                      "grad_q",    "grad_k",    "grad_v"};
constexpr std::array<std::string_view, 8> kLora{"lora_index",  "lora_delta", "lora_padded", "output",
                                                "lora_merged", "grad_x",     "grad_lora_a", "grad_lora_b"};

}  // namespace

std::string_view name_of(Kind kind) {
  return kind == Kind::table ? "table" : kind == Kind::attention ? "attention" : "lora";
}

std::span<const std::string_view> stages_of(Kind kind) {
  if (kind == Kind::table) return kTable;
  if (kind == Kind::attention) return kAttention;
  return kLora;
}

std::int64_t Rope::rotary_dim() const {
  return static_cast<std::int64_t>(std::trunc(static_cast<double>(head_dim) * partial_rotary_factor));
}

std::int64_t Attention::shift(std::int64_t keys) const {
  if (causal == "top_left") return 0;
  return causal == "bottom_right" ? keys - queries(keys) : first_query(keys);
}

std::vector<std::int64_t> Lora::part_sizes() const {
  std::vector<std::int64_t> sizes;
  for (std::size_t part = 0; part < 3; ++part)
    if (enable[part]) sizes.push_back(part == 0 ? q_size() : kv_size());
  return sizes;
}

std::int64_t Lora::enabled_size() const {
  const auto sizes = part_sizes();
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

double Lora::gamma() const {
  if (scale == "alpha") return alpha;
  const auto rank = static_cast<double>(r);
  return alpha / (scale == "alpha/r" ? rank : std::sqrt(rank));
}

}  // namespace ropewalk
