// Golden tensors: exact values, correctly rounded with proof. docs/goldens.md.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/fields.hpp"
#include "harness/tensors/tensor.hpp"
#include "reference/table.hpp"

namespace ropewalk {

struct GoldenTensor {
  std::string name;   // in the file
  std::string stage;  // what it is
  DType dtype = DType::float32;
  Shape shape;
  std::string formula;                 // the exact value, with the names of the parameters
  std::vector<std::string> proved_by;  // the tensors whose values its proof counts, itself among them
};

// Takes the next bytes of a tensor, given by its number.
using Sink = std::function<void(std::size_t tensor, std::span<const std::byte> bytes)>;

// One file: what stands in it, and how it is made. The same parameters give the same tensors, bytes and counts.
struct GoldenFile {
  std::string kind;
  Json parameters;
  std::vector<GoldenTensor> tensors;
  // Sends every byte of every tensor to the sink, each tensor's in order; returns how each was proved. Thread-safe.
  std::function<std::vector<reference::Proof>(const Sink&)> make;
};

GoldenFile golden_of(const Case& problem);  // throws BadInput
// From a manifest; throws BadInput.
GoldenFile golden_from(const Field& kind, const Field& parameters, const std::string& case_id);

}  // namespace ropewalk
