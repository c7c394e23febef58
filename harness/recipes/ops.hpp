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
  std::size_t operands;
  bool takes_dtype;
};

inline constexpr std::array<OpInfo, 20> kOps{{{Op::positions, "positions", 0, true},
                                              {Op::arange, "arange", 3, true},
                                              {Op::cast, "cast", 1, true},
                                              {Op::multiply, "multiply", 2, false},
                                              {Op::divide, "divide", 2, false},
                                              {Op::add, "add", 2, false},
                                              {Op::subtract, "subtract", 2, false},
                                              {Op::negate, "negate", 1, false},
                                              {Op::power, "power", 2, false},
                                              {Op::reciprocal, "reciprocal", 1, false},
                                              {Op::exp, "exp", 1, false},
                                              {Op::log, "log", 1, false},
                                              {Op::exp2, "exp2", 1, false},
                                              {Op::floor, "floor", 1, false},
                                              {Op::cos, "cos", 1, false},
                                              {Op::sin, "sin", 1, false},
                                              {Op::polar, "polar", 1, false},
                                              {Op::real, "real", 1, false},
                                              {Op::imag, "imag", 1, false},
                                              {Op::keep_bits, "keep_bits", 2, false}}};

}  // namespace ropewalk
