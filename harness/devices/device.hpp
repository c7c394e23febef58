// Where a recipe's operations run. A device takes host tensors and gives host tensors back; what it does in between,
// and in which arithmetic, is what is under test.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "harness/recipes/recipe.hpp"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

using Argument =
    std::variant<Tensor, double>;  // a double is a Python number: it takes the tensor's dtype, or stays wider

// Largest errors that the device's documentation promises for fp32, in ulp of the exact result.
struct DocumentedBounds {
  double sin_cos_ulp = 0, pow_ulp = 0, exp_log_ulp = 0;
  double sincospi_ulp = 0;
  bool divides_by_reciprocal = false;  // tensor / number is tensor * (1 / number): one rounding more
  std::string source;
};

// The device cannot do this operation in this dtype; the reason becomes that of a skipped result.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Case;

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual std::string missing() const = 0;  // why it cannot be used here; empty when it can
  virtual bool emulated() const = 0;
  virtual std::string versions() const = 0;  // of what computes, for people
  virtual DocumentedBounds bounds() const = 0;
  // Result of `op` on `in`; `dtype` is the dtype asked for by cast, arange, positions. Throws Refused.
  virtual Tensor apply(Op op, std::span<const Argument> in, DType dtype) = 0;
  // Runs one of this project's own kernels on the stages and inputs before it: the stages of made_by_kernels(). Throws
  // Refused. Only where runs_kernels().
  virtual bool runs_kernels() const { return false; }
  virtual std::map<std::string, Tensor> kernel(const std::string& kernel_name,
                                               const std::map<std::string, Tensor>& values, const Case& problem);
  // Results so far of apply() that the model cannot warrant; zero for devices that compute.
  virtual std::int64_t undetermined() const { return 0; }
};

std::string torch_version();              // "2.15.0"
void set_cpu_threads(int threads);        // of LibTorch on the CPU, for the calling thread and new ones
std::vector<std::string> device_names();  // cpu, cuda, cuda-math, cuda-kernels, in this order
std::shared_ptr<Device> make_device(const std::string& name);  // throws BadInput for an unknown name

}  // namespace ropewalk
