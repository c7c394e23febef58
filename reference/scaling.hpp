// How a model changes the frequencies base^(-2j/dim) to reach longer contexts, and the amplitude of its tables. All
// numbers are taken as exact. Definitions over the reals and their sources: docs/numerics.md, section 1.8.
#pragma once

#include <optional>
#include <vector>

namespace ropewalk::reference {

struct Scaling {
  enum class Type { none, linear, dynamic, yarn, longrope, llama3, proportional };
  Type type = Type::none;
  double factor = 1;
  double original_max_position_embeddings = 0;   // positions that the model was trained for
  double max_position_embeddings = 0;            // dynamic: below it nothing changes; longrope: factor is their ratio
  double length = 0;                             // of the sequence: dynamic and longrope depend on it
  double beta_fast = 32, beta_slow = 1;          // yarn: turns over the original length where the ramp begins and ends
  bool truncate = true;                          // yarn: the ramp's ends are cut to whole pairs
  std::optional<double> attention_factor;        // yarn, longrope: the amplitude itself
  std::optional<double> mscale, mscale_all_dim;  // yarn: the amplitude is the ratio of both
  double low_freq_factor = 1, high_freq_factor = 4;  // llama3
  std::vector<double> short_factor, long_factor;     // longrope: one for each pair
  double proportion = 1;  // proportional: share of the pairs that turn; the others have frequency 0
  bool operator==(const Scaling&) const = default;
};

}  // namespace ropewalk::reference
