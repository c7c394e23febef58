// Sums of products in LibTorch's order of summation, which depends on its build, the shapes and the number of threads.
#include <limits>

#include "harness/devices/torch_tensors.hpp"

namespace ropewalk {
namespace {

// Sizes of the enabled parts: those that are not 0.
std::vector<std::int64_t> parts(const std::vector<Value>& in) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 2; i < in.size(); ++i)
    if (in[i].whole() > 0) out.push_back(in[i].whole());
  return out;
}

std::optional<double> scale_in(const std::vector<Value>& in) {
  return in.size() > 4 ? std::optional(in[4].number) : std::nullopt;
}

// A mask of flags becomes numbers to be added, as at::scaled_dot_product_attention makes it before it calls a kernel.
at::Tensor mask_in(const std::vector<Value>& in) {
  const at::Tensor& mask = in[3].tensor;
  if (mask.scalar_type() != at::kBool) return mask;
  return at::zeros(mask.sizes(), in[0].tensor.options())
      .masked_fill_(mask.logical_not(), -std::numeric_limits<double>::infinity());
}

// A convolution of width 1 over the next to last axis: x [..., rows, channels], weights [out, channels / groups].
at::Tensor convolve(const at::Tensor& x, const at::Tensor& weights, std::int64_t groups) {
  constexpr std::array<std::int64_t, 1> one{1}, none{0};
  return at::conv1d(x.transpose(-2, -1), weights.unsqueeze(-1), {}, one, none, one, groups).transpose(-2, -1);
}

}  // namespace

at::Tensor sum_products(Op op, const std::vector<Value>& in, at::ScalarType dtype) {
  at::Tensor x = in.at(0).tensor;
  const at::Tensor& y = in.at(1).tensor;
  switch (op) {
    case Op::matmul:
      return at::matmul(x, y);
    case Op::linear:
      return in.size() == 3 ? at::linear(x, y, in[2].tensor) : at::linear(x, y);
    case Op::conv_grouped:
      return convolve(x, y, in[2].whole());
    case Op::conv_parts: {
      const auto sizes = parts(in);
      const auto xs = x.chunk(static_cast<std::int64_t>(sizes.size()), -1);
      const auto weights = y.split_with_sizes(sizes);
      std::vector<at::Tensor> out;
      for (std::size_t j = 0; j < sizes.size(); ++j) out.push_back(convolve(xs[j], weights[j], 1));
      return at::cat(out, -1);
    }
    case Op::part_products: {
      const auto sizes = parts(in);
      const auto gs = x.split_with_sizes(sizes, -1);
      const auto weights = y.split_with_sizes(sizes);
      std::vector<at::Tensor> out;
      for (std::size_t j = 0; j < sizes.size(); ++j) out.push_back(at::matmul(gs[j], weights[j]));
      return at::cat(out, -1);
    }
    case Op::part_outer: {
      const auto sizes = parts(in);
      const auto gs = x.reshape({-1, x.size(-1)}).split_with_sizes(sizes, -1);
      const auto xs = y.reshape({-1, y.size(-1)}).chunk(static_cast<std::int64_t>(sizes.size()), -1);
      std::vector<at::Tensor> out;
      for (std::size_t j = 0; j < sizes.size(); ++j) out.push_back(at::matmul(gs[j].t(), xs[j]));
      return at::cat(out, 0);
    }
    case Op::sum:
      return x.sum(static_cast<std::int64_t>(in[1].number));
    case Op::largest:
      return x.amax(in[1].whole(), true);
    case Op::softmax:
      return at::softmax(x, in[1].whole(), dtype);
    case Op::softmax_backward:
      return at::_softmax_backward_data(x, y, in[2].whole(), x.scalar_type());
    case Op::complex_rotate: {
      const at::Tensor pairs = at::view_as_complex(x.unflatten(-1, {-1, 2}).contiguous());
      return at::view_as_real(pairs * at::complex(y, in[2].tensor)).flatten(-2);
    }
    case Op::sdpa_math:
      return std::get<0>(
          at::_scaled_dot_product_attention_math(x, y, in[2].tensor, mask_in(in), 0, false, {}, scale_in(in)));
    case Op::sdpa_flash:
      return std::get<0>(
          at::_scaled_dot_product_flash_attention_for_cpu(x, y, in[2].tensor, 0, false, mask_in(in), scale_in(in)));
    case Op::add_:
      return x.add_(y);
    case Op::multiply_:
      return in[1].is_tensor ? x.mul_(y) : x.mul_(in[1].scalar());
    default:
      throw Refused("not an operation that sums products");
  }
}

}  // namespace ropewalk
