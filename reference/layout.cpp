#include "reference/layout.hpp"

#include <numeric>
#include <stdexcept>

namespace ropewalk::reference {
namespace {

int channel(Pairing pairing, int pair, int member, int rotary) {
  return pairing == Pairing::half_split ? pair + member * rotary / 2 : 2 * pair + member;
}

}  // namespace

std::vector<int> channel_order(Pairing from, Pairing to, int head_dim, int rotary) {
  if (rotary < 2 || rotary % 2 != 0 || rotary > head_dim)
    throw std::invalid_argument("the rotary width must be even, at least 2 and at most head_dim");
  std::vector<int> order(static_cast<std::size_t>(head_dim));
  std::iota(order.begin(), order.end(), 0);
  for (int pair = 0; pair < rotary / 2; ++pair)
    for (int member = 0; member < 2; ++member)
      order[static_cast<std::size_t>(channel(to, pair, member, rotary))] = channel(from, pair, member, rotary);
  return order;
}

}  // namespace ropewalk::reference
