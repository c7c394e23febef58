// The host twins: the same bodies, one element after the other.
#include <cstring>
#include <stdexcept>
#include <vector>

#include "harness/devices/cuda_kernels/dispatch.hpp"

namespace ropewalk::kernels::host {
namespace {

constexpr auto kEach = [](const auto& body, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) body(i);
};

}  // namespace

void table(TableWay way, const TableArguments& a) {
  if (way == TableWay::fast || way == TableWay::fast_reduced)
    throw std::invalid_argument("the hardware's approximations have no host twin");
  with_table(way, a, kEach);
}

void rotate(const RotationPlan& plan, Element element, const RotationArguments& a, std::int64_t copies) {
  const std::int64_t elements = a.batch * a.seq * a.heads * a.head_dim * (plan.late ? copies : 1);
  std::vector<std::byte> scratch(static_cast<std::size_t>(copies == 1 ? 0 : elements * bytes_of(element)));
  with_heads(plan, element, a, copies, scratch.data(), kEach);
}

void pad(PadMethod method, Element element, const PadArguments& a) {
  if (method != PadMethod::slices)
    std::memset(a.out, 0, static_cast<std::size_t>(a.rows * a.out_columns * bytes_of(element)));
  with_padding(method, element, a, kEach);
}

}  // namespace ropewalk::kernels::host
