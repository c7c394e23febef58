#include "harness/checks/cost.hpp"

#include <algorithm>
#include <limits>

namespace ropewalk {
namespace {

constexpr int kLeastRounds = 15, kMostRounds = 400;
constexpr double kLongEnough = 0.05;  // seconds for each of the two

nlohmann::ordered_json pair(std::int64_t a, std::int64_t b) { return nlohmann::ordered_json::array({a, b}); }

}  // namespace

nlohmann::ordered_json compare_cost(const std::vector<std::string>& stages, Subject& first, const Whole& of_first,
                                    Subject& second, const Whole& of_second) {
  nlohmann::ordered_json out;
  Work work[2];
  for (const std::string& stage : stages)
    for (const int side : {0, 1}) {
      const auto found = (side == 0 ? of_first : of_second).work.find(stage);
      if (found == (side == 0 ? of_first : of_second).work.end()) return out;
      work[side].operations += found->second.operations;
      work[side].bytes += found->second.bytes;
      work[side].tensors += found->second.tensors;
    }
  out["stages"] = stages;
  out["operations"] = pair(work[0].operations, work[1].operations);
  out["bytes"] = pair(work[0].bytes, work[1].bytes);
  out["tensors"] = pair(work[0].tensors, work[1].tensors);
  double least[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}, spent = 0;
  int rounds = 0;
  for (; rounds < kMostRounds && (rounds < kLeastRounds || spent < kLongEnough); ++rounds) {
    for (int side = 0; side < 2; ++side) {
      double seconds = 0;
      for (const std::string& stage : stages) {
        const auto took = (side == 0 ? first : second).time_stage(stage);
        if (!took) return out;
        seconds += *took;
      }
      least[side] = std::min(least[side], seconds);
      spent += seconds / 2;
    }
  }
  out["seconds"] = {least[0], least[1]};
  out["ratio"] = least[0] / least[1];
  out["rounds"] = rounds;
  out["how"] = "least of the rounds, both in turn; LibTorch called from C++, without Python's own cost";
  return out;
}

}  // namespace ropewalk
