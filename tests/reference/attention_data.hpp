// Data sets that make attention hard.
#pragma once

#include <string>
#include <vector>

#include "reference/attention.hpp"

namespace ropewalk::reference {

struct AttentionData {
  std::string name;
  std::vector<double> q, k, v;  // numbers of the format that they were made for
  AttentionInputs inputs() const { return {q, k, v}; }
};

// All of them, for the sizes of `a`, in numbers of the format.
std::vector<AttentionData> hard_data(const Attention& a, Format format, std::uint64_t seed);
AttentionData normal_data(const Attention& a, Format format, std::uint64_t seed);

}  // namespace ropewalk::reference
