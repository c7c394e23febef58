// The operations by name, with what each takes.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "harness/recipes/recipe.hpp"

namespace ropewalk {

struct OpInfo {
  Op op;
  std::string_view name;
  std::size_t operands;  // at least so many; more only where `more`
  bool takes_dtype, more = false;
};

inline constexpr std::array kOps{OpInfo{Op::positions, "positions", 0, true},
                                 OpInfo{Op::arange, "arange", 3, true},
                                 OpInfo{Op::scalar, "scalar", 1, true},
                                 OpInfo{Op::cast, "cast", 1, true},
                                 OpInfo{Op::multiply, "multiply", 2, false},
                                 OpInfo{Op::divide, "divide", 2, false},
                                 OpInfo{Op::add, "add", 2, false},
                                 OpInfo{Op::subtract, "subtract", 2, false},
                                 OpInfo{Op::negate, "negate", 1, false},
                                 OpInfo{Op::power, "power", 2, false},
                                 OpInfo{Op::reciprocal, "reciprocal", 1, false},
                                 OpInfo{Op::exp, "exp", 1, false},
                                 OpInfo{Op::log, "log", 1, false},
                                 OpInfo{Op::exp2, "exp2", 1, false},
                                 OpInfo{Op::tanh, "tanh", 1, false},
                                 OpInfo{Op::fma, "fma", 3, false},
                                 OpInfo{Op::mask_outside, "mask_outside", 3, true},
                                 OpInfo{Op::floor, "floor", 1, false},
                                 OpInfo{Op::cos, "cos", 1, false},
                                 OpInfo{Op::sin, "sin", 1, false},
                                 OpInfo{Op::polar, "polar", 1, false},
                                 OpInfo{Op::real, "real", 1, false},
                                 OpInfo{Op::imag, "imag", 1, false},
                                 OpInfo{Op::clamp, "clamp", 3, false},
                                 OpInfo{Op::select_less, "select_less", 4, false},
                                 OpInfo{Op::running_product, "running_product", 3, false},
                                 OpInfo{Op::keep_bits, "keep_bits", 2, false},
                                 OpInfo{Op::less_turns, "less_turns", 1, false},
                                 OpInfo{Op::less_turns_fma, "less_turns_fma", 1, false},
                                 OpInfo{Op::half_turns, "half_turns", 1, false},
                                 OpInfo{Op::half_turns_fma, "half_turns_fma", 1, false},
                                 OpInfo{Op::cos_pi, "cos_pi", 1, false},
                                 OpInfo{Op::sin_pi, "sin_pi", 1, false},
                                 OpInfo{Op::cos_fast, "cos_fast", 1, false},
                                 OpInfo{Op::sin_fast, "sin_fast", 1, false},
                                 OpInfo{Op::same, "same", 1, false},
                                 OpInfo{Op::clone, "clone", 1, false},
                                 OpInfo{Op::reshape, "reshape", 2, false, true},
                                 OpInfo{Op::transpose, "transpose", 3, false},
                                 OpInfo{Op::slice, "slice", 5, false},
                                 OpInfo{Op::concat, "concat", 2, false, true},
                                 OpInfo{Op::stack, "stack", 2, false, true},
                                 OpInfo{Op::repeat_interleave, "repeat_interleave", 3, false},
                                 OpInfo{Op::expand_repeat, "expand_repeat", 3, false},
                                 OpInfo{Op::index_select, "index_select", 3, false},
                                 OpInfo{Op::index_copy, "index_copy", 4, false},
                                 OpInfo{Op::index_copy_, "index_copy_", 4, false},
                                 OpInfo{Op::index_put_last_, "index_put_last_", 3, false},
                                 OpInfo{Op::mask_put_, "mask_put_", 3, false},
                                 OpInfo{Op::slices_put_, "slices_put_", 3, false},
                                 OpInfo{Op::zeros, "zeros", 1, true, true},
                                 OpInfo{Op::empty, "empty", 1, true, true},
                                 OpInfo{Op::to_empty, "to_empty", 1, false},
                                 OpInfo{Op::tensor_of_list, "tensor_of_list", 1, false},
                                 OpInfo{Op::lora_rows, "lora_rows", 0, false},
                                 OpInfo{Op::segment_rows, "segment_rows", 3, false},
                                 OpInfo{Op::group_rows, "group_rows", 0, false},
                                 OpInfo{Op::enabled_mask, "enabled_mask", 0, false},
                                 OpInfo{Op::matmul, "matmul", 2, false},
                                 OpInfo{Op::linear, "linear", 2, false, true},
                                 OpInfo{Op::conv_parts, "conv_parts", 5, false},
                                 OpInfo{Op::conv_grouped, "conv_grouped", 3, false},
                                 OpInfo{Op::part_products, "part_products", 5, false},
                                 OpInfo{Op::part_outer, "part_outer", 5, false},
                                 OpInfo{Op::sum, "sum", 2, false},
                                 OpInfo{Op::largest, "largest", 2, false},
                                 OpInfo{Op::softmax, "softmax", 2, true},
                                 OpInfo{Op::softmax_backward, "softmax_backward", 3, false},
                                 OpInfo{Op::complex_rotate, "complex_rotate", 3, false},
                                 OpInfo{Op::sdpa_math, "sdpa_math", 4, false, true},
                                 OpInfo{Op::sdpa_flash, "sdpa_flash", 4, false, true},
                                 OpInfo{Op::add_, "add_", 2, false},
                                 OpInfo{Op::multiply_, "multiply_", 2, false}};

}  // namespace ropewalk
