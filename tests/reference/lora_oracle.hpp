// An oracle for the LoRA reference: exact sums of Arb's floating-point numbers from a dense statement of the
// definitions, rounded by whole numbers. Shares no code with the reference but the input types.
#pragma once

#include <arb.h>

#include <array>
#include <memory>
#include <vector>

#include "reference/lora.hpp"

namespace ropewalk::reference {

// A dyadic rational, exact.
class Dyadic {
 public:
  Dyadic() { arf_init(x_); }
  explicit Dyadic(double v) : Dyadic() { arf_set_d(x_, v); }
  Dyadic(const Dyadic& other) : Dyadic() { arf_set(x_, other.x_); }
  Dyadic& operator=(const Dyadic& other) {
    arf_set(x_, other.x_);
    return *this;
  }
  ~Dyadic() { arf_clear(x_); }
  Dyadic& add(const Dyadic& a);
  Dyadic& add_product(const Dyadic& a, const Dyadic& b);
  const arf_struct* get() const { return x_; }
  arf_struct* get() { return x_; }

 private:
  arf_t x_;
};

// Which part (0 q, 1 k, 2 v) and which of its columns each of the `out` columns is, found by laying out head by head.
struct Owner {
  int part;
  std::int64_t column;
};
std::vector<Owner> owners(const LoraMap& map);

struct RoundedTruth {
  double value;
  bool tie;
};

// base + gamma factor.
struct LoraTruth {
  Dyadic base, factor;
  RoundedTruth rounded(Format format, const LoraScale& scale) const;
  bool within(const LoraScale& scale, double head, double tail, double bound) const;
};

// All elements of a stage, row-major. Ignores observed stages (LoraInputs::delta and padded).
std::vector<LoraTruth> lora_truth(LoraStage stage, const LoraProblem& problem);

}  // namespace ropewalk::reference
