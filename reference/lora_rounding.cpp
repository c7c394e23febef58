// Correct rounding of whole stages, and merging into weights that are stored in a format.
#include <stdexcept>

#include "reference/enclosed.hpp"
#include "reference/lora_exact.hpp"

namespace ropewalk::reference {
std::vector<double> round_certified(Format format, LoraStage stage, const LoraProblem& problem,
                                    const Enclosures& values, Proof& proof) {
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Enclosure v = at(values, i);
    if (const std::optional<double> rounded = round_enclosed(format, v)) {
      out[i] = *rounded;
      ++(v.bound == 0 ? proof.exact : proof.fast);
      proof.midpoints += int{v.bound == 0 && is_tie(format, v.head, v.tail)};
    } else {
      const ExactRounding r = round_exactly(format, stage, problem, i);
      out[i] = r.value;
      ++proof.fallback;
      proof.midpoints += int{r.tie};
    }
  }
  return out;
}

std::vector<double> merge_and_unmerge(Format format, std::span<const double> weight, std::span<const double> change) {
  if (weight.size() != change.size()) throw std::invalid_argument("a merge needs as many changes as weights");
  std::vector<double> out(weight.size());
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const auto rounded_sum = [format](double a, double b) {
      const DoubleDouble sum = two_sum(a, b);
      return round_head_tail(sum.high, sum.low, format);
    };
    out[i] = rounded_sum(rounded_sum(weight[i], change[i]), -change[i]);
  }
  return out;
}

}  // namespace ropewalk::reference
