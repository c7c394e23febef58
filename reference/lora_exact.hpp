// Single elements of a LoRA update without any error: what decides where an enclosure does not. docs/numerics.md, 3.3.
#pragma once

#include "reference/enclosed.hpp"
#include "reference/lora.hpp"

namespace ropewalk::reference {

// gamma. Bound 0 where it is a sum of two doubles, as for powers of two r.
Enclosure enclosed(const LoraScale& scale);

struct ExactRounding {
  double value;  // in the format
  bool tie;      // the exact value lies midway between two numbers of the format
};

// Element `index` of the stage. Slow: a fraction of a millisecond.
class ExactLora {
 public:
  explicit ExactLora(const LoraProblem& problem);
  ExactRounding round(Format format, LoraStage stage, std::size_t index) const;

 private:
  struct Terms;
  bool evaluate(LoraStage stage, std::size_t index, Terms& terms) const;

  const LoraProblem& problem_;
  std::vector<std::int64_t> index_, inverse_;  // pi; the enabled column at each column of `out`, or -1
  std::int64_t parts_, enabled_, out_;
};

}  // namespace ropewalk::reference
