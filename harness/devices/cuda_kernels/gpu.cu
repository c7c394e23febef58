// The kernels on a GPU: copies there, one launch for each body, copies back.
#include <memory>

#include "harness/devices/cuda_kernels/dispatch.hpp"
#include "harness/devices/cuda_kernels/launch.cuh"

namespace ropewalk::kernels::gpu {
namespace {

std::string version_text(int version) {  // 13000 is 13.0
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string missing() {
  static const std::string reason = []() -> std::string {
    int count = 0;
    if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) return cudaGetErrorString(code);
    if (count == 0) return "no CUDA-capable device is detected";
    try {
      const float one = 1;
      const Buffer x(&one, 4), angle(4), c(4), s(4);
      Launch{}(
          Table<TableWay::radians>{{x.as<float>(), x.as<float>(), angle.get(), c.as<float>(), s.as<float>(), 1, 1}}, 1);
      check(cudaDeviceSynchronize(), "first kernel");
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return {};
  }();
  return reason;
}

std::string versions() {
  int runtime = 0, driver = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  std::string text = "CUDA runtime " + version_text(runtime);
  if (driver == 0) return text + ", no driver";
  text += ", driver for CUDA " + version_text(driver);
  if (cudaDeviceProp p{}; missing().empty() && cudaGetDeviceProperties(&p, 0) == cudaSuccess)
    text += std::string(", ") + p.name + ", sm_" + std::to_string(p.major) + std::to_string(p.minor);
  return text;
}

void table(TableWay way, const TableArguments& a) {
  const std::int64_t elements = a.rows * a.pairs, angle_bytes = elements * (in_float32(way) ? 4 : 8);
  const Buffer positions(a.positions, a.rows * 4), inv_freq(a.inv_freq, a.pairs * 4);
  const Buffer angle(angle_bytes), cosine(elements * 4), sine(elements * 4);
  with_table(
      way,
      {positions.as<float>(), inv_freq.as<float>(), angle.get(), cosine.as<float>(), sine.as<float>(), a.rows, a.pairs},
      Launch{});
  angle.copy_to(a.angle, angle_bytes);
  cosine.copy_to(a.cos, elements * 4);
  sine.copy_to(a.sin, elements * 4);
}

void rotate(const RotationPlan& plan, Element element, const RotationArguments& a, std::int64_t copies) {
  const std::int64_t bytes = a.batch * a.seq * a.heads * a.head_dim * bytes_of(element);
  const bool from_table = plan.source == AngleSource::table;
  const Buffer x(a.x, bytes), out(bytes * copies), scratch(copies == 1 ? 0 : bytes * (plan.late ? copies : 1));
  const std::int64_t table_bytes = from_table ? a.seq * a.pairs * 4 : 0;
  const Buffer cosine(a.cos, table_bytes), sine(a.sin, table_bytes);
  const Buffer positions(a.positions, from_table ? 0 : a.seq * 4), inv_freq(a.inv_freq, from_table ? 0 : a.pairs * 4);
  RotationArguments on_device = a;
  on_device.x = x.get();
  on_device.out = out.get();
  on_device.cos = cosine.as<float>();
  on_device.sin = sine.as<float>();
  on_device.positions = positions.as<float>();
  on_device.inv_freq = inv_freq.as<float>();
  with_heads(plan, element, on_device, copies, scratch.get(), Launch{});
  out.copy_to(a.out, bytes * copies);
}

void pad(PadMethod method, Element element, const PadArguments& a) {
  const std::int64_t out_bytes = a.rows * a.out_columns * bytes_of(element);
  const Buffer x(a.x, a.rows * a.in_columns * bytes_of(element)), out(out_bytes);
  const Buffer index(a.index, a.in_columns * 8), slices(a.slices, a.slice_count * 24);
  check(cudaMemset(out.get(), 0, out_bytes), "cudaMemset");
  PadArguments on_device = a;
  on_device.x = x.get();
  on_device.out = out.get();
  on_device.index = index.as<std::int64_t>();
  on_device.slices = slices.as<std::int64_t>();
  with_padding(method, element, on_device, Launch{});
  out.copy_to(a.out, out_bytes);
}

}  // namespace ropewalk::kernels::gpu
