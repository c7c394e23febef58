// This project's own kernels: on the first GPU, or their host twins where there is none. Steps that no kernel makes run
// on cuda-math.
#include <cstring>
#include <optional>

#include "harness/cases/case.hpp"
#include "harness/devices/cuda_kernels/run.hpp"
#include "harness/devices/makers.hpp"
#include "harness/recipes/fast_bounds.hpp"

namespace ropewalk {
namespace {

using namespace kernels;

// What a recipe's kernel name says.
struct Plan {
  std::optional<TableWay> table;
  std::optional<RotationPlan> rotation;
  std::optional<PadMethod> padding;
};

Plan plan_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, TableWay>, 7> kTables{
      {{"table-sincosf", TableWay::radians},
       {"table-sincospif", TableWay::turns},
       {"table-sincospif-fma", TableWay::turns_fused},
       {"table-phase", TableWay::phase},
       {"table-phase-fma", TableWay::phase_fused},
       {"table-fast", TableWay::fast},
       {"table-fast-reduced", TableWay::fast_reduced}}};
  for (const auto& [known, way] : kTables)
    if (name == known) return {way, {}, {}};
  if (name == "pad-index") return {{}, {}, PadMethod::index};
  if (name == "pad-slices") return {{}, {}, PadMethod::slices};
  if (name == "pad-list") return {{}, {}, PadMethod::list};
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  return {{},
          RotationPlan{has("-half") ? Pairing::half_split : Pairing::interleaved,
                       name.ends_with("-fma") ? Contraction::fma : Contraction::none,
                       has("fused") ? AngleSource::in_place : AngleSource::table, has("-late")},
          {}};
}

Element element_of(const Tensor& tensor, const char* what) {
  if (tensor.dtype() == DType::float32) return Element::float32;
  if (tensor.dtype() == DType::bfloat16) return Element::bfloat16;
  if (tensor.dtype() == DType::float16) return Element::float16;
  throw Refused(std::string("the kernel takes no ") + what + " of dtype " + std::string(name_of(tensor.dtype())));
}

const Tensor& need(const std::map<std::string, Tensor>& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) throw Refused("the kernel needs " + name + " before it");
  return found->second;
}

const Tensor& need_float32(const std::map<std::string, Tensor>& values, const std::string& name) {
  const Tensor& tensor = need(values, name);
  if (tensor.dtype() != DType::float32) throw Refused("the kernel takes " + name + " in float32 only");
  return tensor;
}

// Runs of neighbours in a list of columns: first of x, first of out, length.
std::vector<std::int64_t> slices_of(std::span<const std::int64_t> index) {
  std::vector<std::int64_t> out;
  for (std::size_t first = 0, next = 0; first < index.size(); first = next) {
    for (next = first + 1; next < index.size() && index[next] == index[next - 1] + 1; ++next) continue;
    out.insert(out.end(), {static_cast<std::int64_t>(first), index[first], static_cast<std::int64_t>(next - first)});
  }
  return out;
}

class CudaKernels final : public Device {
 public:
  std::string name() const override { return "cuda-kernels"; }
  std::string missing() const override { return {}; }
  bool emulated() const override { return !on_gpu(); }
  std::string versions() const override {
    return on_gpu() ? gpu::versions() : "host twins (" + gpu::missing() + "); " + gpu::versions();
  }
  DocumentedBounds bounds() const override { return cuda_documented_bounds(); }
  std::int64_t undetermined() const override { return steps_->undetermined(); }
  Tensor apply(Op op, std::span<const Argument> in, DType dtype) override { return steps_->apply(op, in, dtype); }
  bool runs_kernels() const override { return true; }

  std::map<std::string, Tensor> kernel(const std::string& kernel_name, const std::map<std::string, Tensor>& values,
                                       const Case& problem) override {
    const Plan plan = plan_of(kernel_name);
    if (plan.table) return table(*plan.table, values);
    if (plan.padding) return pad(*plan.padding, values, problem);
    auto made = table(TableWay::radians, values);
    const std::int64_t copies = problem.attention->heads / problem.attention->kv_heads;
    made["rotated_q"] = rotate(*plan.rotation, need(values, "q"), values, made, problem, 1);
    made["rotated_k"] = rotate(*plan.rotation, need(values, "k"), values, made, problem, copies);
    return made;
  }

 private:
  static bool on_gpu() { return gpu::missing().empty(); }

  static std::map<std::string, Tensor> table(TableWay way, const std::map<std::string, Tensor>& values) {
    if ((way == TableWay::fast || way == TableWay::fast_reduced) && !on_gpu())
      throw Refused(std::string("bounded by documentation, not run: ") + kFastSource);
    const Tensor &positions = need_float32(values, "positions"), &inv_freq = need_float32(values, "inv_freq");
    const Shape shape{positions.size(), inv_freq.size()};
    Tensor angle(in_float32(way) ? DType::float32 : DType::float64, shape);
    Tensor cosine(DType::float32, shape), sine(DType::float32, shape);
    const TableArguments a{positions.as<float>().data(),
                           inv_freq.as<float>().data(),
                           angle.bytes().data(),
                           cosine.as<float>().data(),
                           sine.as<float>().data(),
                           shape[0],
                           shape[1]};
    on_gpu() ? gpu::table(way, a) : host::table(way, a);
    return {{"angle", angle}, {"cos", cosine}, {"sin", sine}};
  }

  static Tensor rotate(const RotationPlan& plan, const Tensor& x, const std::map<std::string, Tensor>& values,
                       const std::map<std::string, Tensor>& made, const Case& problem, std::int64_t copies) {
    const Element element = element_of(x, "q and k");
    const Shape& shape = x.shape();  // [batch, seq, heads, head_dim]
    if (shape[1] != made.at("cos").shape()[0]) throw Refused("the kernel rotates one row for each position");
    Tensor out(x.dtype(), {shape[0], shape[1], shape[2] * copies, shape[3]});
    const RotationArguments a{x.bytes().data(),
                              out.bytes().data(),
                              made.at("cos").as<float>().data(),
                              made.at("sin").as<float>().data(),
                              need_float32(values, "positions").as<float>().data(),
                              need_float32(values, "inv_freq").as<float>().data(),
                              shape[0],
                              shape[1],
                              shape[2],
                              shape[3],
                              problem.rope.rotary_dim() / 2};
    on_gpu() ? gpu::rotate(plan, element, a, copies) : host::rotate(plan, element, a, copies);
    return out;
  }

  static std::map<std::string, Tensor> pad(PadMethod method, const std::map<std::string, Tensor>& values,
                                           const Case& problem) {
    const Tensor &x = need(values, "lora_delta"), &index = need(values, "lora_index");
    if (index.dtype() != DType::int64) throw Refused("the kernel takes lora_index in int64 only");
    const Element element = element_of(x, "lora_delta");
    Shape shape = x.shape();
    const std::int64_t in_columns = shape.back(), out_columns = problem.lora->out_size();
    shape.back() = out_columns;
    Tensor out(x.dtype(), shape);
    for (const std::int64_t column : index.as<std::int64_t>())
      if (column < 0 || column >= out_columns) throw std::runtime_error("lora_index points outside the projection");
    if (index.size() != in_columns) throw std::runtime_error("lora_index and lora_delta differ in length");
    const std::vector<std::int64_t> slices = slices_of(index.as<std::int64_t>());
    const PadArguments a{x.bytes().data(),
                         out.bytes().data(),
                         index.as<std::int64_t>().data(),
                         slices.data(),
                         out.size() / out_columns,
                         in_columns,
                         out_columns,
                         static_cast<std::int64_t>(slices.size()) / 3};
    on_gpu() ? gpu::pad(method, element, a) : host::pad(method, element, a);
    return {{"lora_padded", out}};
  }

  std::shared_ptr<Device> steps_ = make_cuda_math();
};

}  // namespace

std::shared_ptr<Device> make_cuda_kernels() { return std::make_shared<CudaKernels>(); }

}  // namespace ropewalk
