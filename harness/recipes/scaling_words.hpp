// Numbers that projects compute in Python, in binary64, from a model's scaling. Each says whose formula it is.
#pragma once

#include "harness/cases/case.hpp"

namespace ropewalk::scaling_words {

// Dynamic NTK: the base for the case's length, binary64 throughout.
double dynamic_base(const Rope& rope);

// YaRN: where the ramp over the pairs begins, and how long it is (0.001 where it would be 0).
struct Ramp {
  double low = 0, width = 0;
};
Ramp yarn_ramp(const Rope& rope);            // transformers 4.57, vLLM, Megatron: original length, cut as the case says
Ramp yarn_ramp_truncated(const Rope& rope);  // cut to whole pairs whatever the case says
Ramp yarn_ramp_of_maximum(const Rope& rope);    // transformers 4.43 to 4.50: max_position_embeddings, cut
Ramp yarn_ramp_within_pairs(const Rope& rope);  // litgpt 0.5.13: the end at most the last pair, not the last channel

// What cosine and sine are multiplied by.
double attention_scaling(const Rope& rope);               // transformers 4.57 and later
double attention_scaling_4_43(const Rope& rope);          // 4.43 to 4.50: yarn without mscale
double attention_scaling_litgpt(const Rope& rope);        // 0.5.13: yarn only with mscale or mscale_all_dim
double attention_scaling_default(const Rope& rope);       // of the factor alone: 0.1 ln f + 1 or sqrt(1 + ln f / ln M)
double attention_scaling_logged_twice(const Rope& rope);  // mscale is the amplitude that is being computed

// longrope: which list of factors.
bool long_by_length(const Rope& rope);      // transformers 4.50 and later, vLLM: beyond the original length
bool long_by_maximum(const Rope& rope);     // 4.43, 4.45: always, where the maximum is beyond the original length
bool long_from_original(const Rope& rope);  // 4.47: at the original length already

}  // namespace ropewalk::scaling_words
