// The kernels on host memory: by their host twins, or on a GPU with copies there and back. Both have the same
// functions.
#pragma once

#include <string>

#include "harness/devices/cuda_kernels/padding.hpp"
#include "harness/devices/cuda_kernels/rotation.hpp"
#include "harness/devices/cuda_kernels/table.hpp"

namespace ropewalk::kernels {

enum class Element { float32, bfloat16, float16 };
enum class PadMethod {
  index,   // a list of columns that lies where the kernel runs
  slices,  // runs of neighbouring columns
  list,    // the list is copied there at each call
};

struct RotationPlan {
  Pairing pairing;
  Contraction contraction;
  AngleSource source;
  bool late;  // heads are expanded first and rotated then
};

namespace host {
void table(TableWay way, const TableArguments& a);  // not the fast ways: they have no twin
// a.out has `copies` neighbours of each head of a.x.
void rotate(const RotationPlan& plan, Element element, const RotationArguments& a, std::int64_t copies);
void pad(PadMethod method, Element element, const PadArguments& a);
}  // namespace host

namespace gpu {
std::string missing();   // why no GPU can be used; empty when one can. Asks once.
std::string versions();  // of runtime and driver, and the GPU's name and architecture where there is one
// As in host. Throw std::runtime_error with CUDA's own words.
void table(TableWay way, const TableArguments& a);
void rotate(const RotationPlan& plan, Element element, const RotationArguments& a, std::int64_t copies);
void pad(PadMethod method, Element element, const PadArguments& a);
}  // namespace gpu

}  // namespace ropewalk::kernels
