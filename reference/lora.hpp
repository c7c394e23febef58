// The exact values of a LoRA update of a fused q, k, v projection: forward, merged and gradients, as enclosures that
// round correctly to any format. docs/numerics.md, section 4, has definitions and bounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/enclosures.hpp"
#include "reference/format.hpp"
#include "reference/lora_map.hpp"
#include "reference/table.hpp"

namespace ropewalk::reference {

// gamma, a real number: alpha / r, alpha / sqrt(r), or alpha.
struct LoraScale {
  enum Kind { over_r, over_sqrt_r, plain };
  double alpha = 1;
  std::int64_t r = 1;
  Kind kind = over_r;
};

// Row-major, every number taken as it is. E, out, parts: those of the map; r of the scale.
struct LoraInputs {
  std::int64_t rows = 0, in = 0;
  std::span<const double> x;            // [rows, in]
  std::span<const double> weight;       // [out, in]
  std::span<const double> bias;         // [out], or empty: no bias
  std::span<const double> a;            // [r * parts, in]: one block of r rows for each enabled part
  std::span<const double> b;            // [E, r]: one block of rows for each enabled part
  std::span<const double> grad_output;  // [rows, out]; only for gradients
  // For local errors: what earlier stages were observed to be. Where given, later stages start from it.
  std::span<const double> delta;   // [rows, E]: padded scatters this
  std::span<const double> padded;  // [rows, out]: output adds this
};

struct LoraProblem {
  LoraMap map;
  LoraScale scale;
  LoraInputs inputs;
};

enum class LoraStage {
  delta,         // [rows, E]      gamma (x A_j^T) B_j^T for each enabled part j
  padded,        // [rows, out]    delta at pi; exactly 0 elsewhere
  output,        // [rows, out]    x W^T + bias + padded
  weight_delta,  // [E, in]        gamma B_j A_j
  merged,        // [out, in]      W + weight_delta at rows pi; exactly W elsewhere
  grad_x,        // [rows, in]     G W + gamma (G_j B_j) A_j summed over j; G = grad_output, G_j its columns of part j
  grad_lora_a,   // [r*parts, in]  gamma (G_j B_j)^T x
  grad_lora_b    // [E, r]         gamma G_j^T (x A_j^T)
};

// Inputs have to be finite (delta and padded need not: such elements are passed on, bound 0). Only those that the stage
// needs have to be there. Throws std::invalid_argument for missing, wrongly sized or non-finite ones. Where a value
// leaves the range of doubles its bound is infinite.
Enclosures lora_enclosures(LoraStage stage, const LoraProblem& problem);

inline Enclosures lora_delta(const LoraProblem& p) { return lora_enclosures(LoraStage::delta, p); }
inline Enclosures lora_padded(const LoraProblem& p) { return lora_enclosures(LoraStage::padded, p); }
inline Enclosures lora_output(const LoraProblem& p) { return lora_enclosures(LoraStage::output, p); }
inline Enclosures lora_weight_delta(const LoraProblem& p) { return lora_enclosures(LoraStage::weight_delta, p); }
inline Enclosures lora_merged(const LoraProblem& p) { return lora_enclosures(LoraStage::merged, p); }
inline Enclosures grad_x(const LoraProblem& p) { return lora_enclosures(LoraStage::grad_x, p); }
inline Enclosures grad_lora_a(const LoraProblem& p) { return lora_enclosures(LoraStage::grad_lora_a, p); }
inline Enclosures grad_lora_b(const LoraProblem& p) { return lora_enclosures(LoraStage::grad_lora_b, p); }

// The correctly rounded number of the format for each element, as a double. `values` are the stage's enclosures; what
// they leave open is decided by exact arithmetic. Counts in proof: `exact` where the bound is 0, `fast` where the
// enclosure decided, `fallback` where exact arithmetic did, and of all these `midpoints` that are exact ties.
std::vector<double> round_certified(Format format, LoraStage stage, const LoraProblem& problem,
                                    const Enclosures& values, Proof& proof);

// One merge with a fixed change of the weights and its undoing: RN(RN(w + d) - d), in the format. d may be any double.
std::vector<double> merge_and_unmerge(Format format, std::span<const double> weight, std::span<const double> change);

}  // namespace ropewalk::reference
