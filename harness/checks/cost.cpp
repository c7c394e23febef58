#include "harness/checks/cost.hpp"

#include <algorithm>
#include <limits>

namespace ropewalk {
namespace {

constexpr int kLeastRounds = 15, kMostRounds = 400;
constexpr double kLongEnough = 0.05;  // seconds for each of the two

nlohmann::ordered_json pair(std::int64_t a, std::int64_t b) { return nlohmann::ordered_json::array({a, b}); }

}  // namespace

nlohmann::ordered_json compare_cost(const std::string& stage, Subject& first, const Whole& of_first, Subject& second,
                                    const Whole& of_second) {
  nlohmann::ordered_json out;
  const auto a = of_first.work.find(stage), b = of_second.work.find(stage);
  if (a != of_first.work.end() && b != of_second.work.end()) {
    out["operations"] = pair(a->second.operations, b->second.operations);
    out["bytes"] = pair(a->second.bytes, b->second.bytes);
    out["tensors"] = pair(a->second.tensors, b->second.tensors);
  }
  double least[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}, spent = 0;
  int rounds = 0;
  for (; rounds < kMostRounds && (rounds < kLeastRounds || spent < kLongEnough); ++rounds) {
    for (int side = 0; side < 2; ++side) {
      const auto seconds = (side == 0 ? first : second).time_stage(stage);
      if (!seconds) return out;
      least[side] = std::min(least[side], *seconds);
      spent += *seconds / 2;
    }
  }
  out["seconds"] = {least[0], least[1]};
  out["ratio"] = least[0] / least[1];
  out["rounds"] = rounds;
  out["how"] = "least of the rounds, both in turn; LibTorch called from C++, without Python's own cost";
  return out;
}

}  // namespace ropewalk
