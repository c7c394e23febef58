// Operations that move elements and compute nothing: the same bits on every device.
#include <bit>

#include "harness/devices/torch_tensors.hpp"

namespace ropewalk {
namespace {

std::vector<std::int64_t> sizes(const std::vector<Value>& in, std::size_t from) {
  std::vector<std::int64_t> out;
  for (std::size_t i = from; i < in.size(); ++i) out.push_back(in[i].whole());
  return out;
}

std::vector<at::Tensor> tensors(const std::vector<Value>& in, std::size_t from) {
  std::vector<at::Tensor> out;
  for (std::size_t i = from; i < in.size(); ++i) out.push_back(in[i].tensor);
  return out;
}

// What "uninitialised" memory holds here: a NaN with a payload that no computation makes, and an index out of range.
at::Tensor canary(at::IntArrayRef shape, at::ScalarType dtype, at::Device device) {
  const at::Tensor out = at::empty(shape, at::TensorOptions().dtype(dtype).device(device));
  const auto words = [&](at::ScalarType word, std::int64_t pattern) { out.view(word).fill_(pattern); };
  switch (dtype) {
    case at::kDouble:
      words(at::kLong, 0x7ff8deaddeaddead);
      break;
    case at::kFloat:
      words(at::kInt, 0x7fc0dead);
      break;
    case at::kBFloat16:
      words(at::kShort, 0x7fda);
      break;
    case at::kHalf:
      words(at::kShort, 0x7eda);
      break;
    default:
      out.fill_(std::int64_t{0x5eaddeaddeaddead});
  }
  return out;
}

at::Tensor repeat_view(const at::Tensor& x, std::int64_t axis, std::int64_t times) {
  auto shape = x.sizes().vec();
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + x.dim() : axis);
  auto wide = shape;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(at) + 1, times);
  shape[at] *= times;
  return x.unsqueeze(static_cast<std::int64_t>(at) + 1).expand(wide).reshape(shape);
}

// One assignment for each run of neighbours in the index.
at::Tensor put_slices(const at::Tensor& target, const at::Tensor& index, const at::Tensor& source) {
  const at::Tensor list = index.to(at::kCPU);
  const auto* rows = list.data_ptr<std::int64_t>();
  for (std::int64_t first = 0, next = 0; first < list.numel(); first = next) {
    for (next = first + 1; next < list.numel() && rows[next] == rows[next - 1] + 1; ++next) continue;
    target.narrow(-1, rows[first], next - first).copy_(source.narrow(-1, first, next - first));
  }
  return target;
}

}  // namespace

at::Tensor move_elements(Op op, const std::vector<Value>& in, at::ScalarType dtype, at::Device device) {
  const at::Tensor& x = in.at(0).tensor;
  switch (op) {
    case Op::clone:
      return x.clone();
    case Op::reshape:
      return x.reshape(sizes(in, 1));
    case Op::transpose:
      return x.transpose(in[1].whole(), in[2].whole());
    case Op::slice:
      return x.slice(in[1].whole(), in[2].whole(), in[3].whole(), in[4].whole());
    case Op::concat:
      return at::cat(tensors(in, 1), in[0].whole());
    case Op::stack:
      return at::stack(tensors(in, 1), in[0].whole());
    case Op::repeat_interleave:
      return x.repeat_interleave(in[2].whole(), in[1].whole());
    case Op::expand_repeat:
      return repeat_view(x, in[1].whole(), in[2].whole());
    case Op::index_select:
      return x.index_select(in[1].whole(), in[2].tensor);
    case Op::index_copy:
      return x.index_copy(in[1].whole(), in[2].tensor, in[3].tensor);
    case Op::index_copy_: {
      at::Tensor target = x;
      return target.index_copy_(in[1].whole(), in[2].tensor, in[3].tensor);
    }
    case Op::index_put_last_: {
      at::Tensor target = x;
      std::vector<at::indexing::TensorIndex> places{at::indexing::Ellipsis, in[1].tensor};
      target.index_put_(places, in[2].tensor);
      return target;
    }
    case Op::mask_put_: {
      at::Tensor target = x;
      std::vector<at::indexing::TensorIndex> places{in[1].tensor};
      target.index_put_(places, in[2].tensor);
      return target;
    }
    case Op::slices_put_:
      return put_slices(x, in[1].tensor, in[2].tensor);
    case Op::zeros:
      return at::zeros(sizes(in, 0), at::TensorOptions().dtype(dtype).device(device));
    case Op::empty:
      return canary(sizes(in, 0), dtype, device);
    case Op::tensor_of_list: {
      const at::Tensor list = x.to(at::kCPU);
      const std::vector<std::int64_t> numbers(list.data_ptr<std::int64_t>(),
                                              list.data_ptr<std::int64_t>() + list.numel());
      return at::tensor(numbers, at::TensorOptions().dtype(at::kLong)).to(device);
    }
    default:
      throw Refused("not an operation that moves elements");
  }
}

}  // namespace ropewalk
