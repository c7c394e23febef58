// The tensors that a case gives to its subjects, the same bits everywhere: Philox4x32-10 (Salmon et al. 2011) keyed by
// the case's id and seed.
#pragma once

#include <map>
#include <string>

#include "harness/cases/case.hpp"
#include "harness/tensors/tensor.hpp"

namespace ropewalk {

// attention: q [batch, queries, heads, head_dim], k, v [batch, keys, kv_heads, head_dim], grad_rotated_q and
//   grad_output like q, grad_rotated_k [batch, keys, heads, head_dim], mask [queries, keys] to be added, the same as
//   flags (allowed), alibi and sinks [heads] where the case has them. lora: x
//   [batch, seq, embedding], weight [out, embedding], bias [out] where the case has one, lora_a [r * parts, embedding],
//   lora_b [enabled, r], grad_output [batch, seq, out]. Of the case's dtype.
std::map<std::string, Tensor> make_inputs(const Case& problem);

double least(DType dtype);  // the least finite number of float64, float32, bfloat16 or float16

// int64, [count] or, of several axes, [axes, count].
Tensor positions_tensor(const Positions& positions, std::int64_t axes = 1);

// Uniforms k * 2^-24 in [0, 1): element i of the stream `name` of this key. Normals are the sum of twelve, less 6.
double uniform(std::uint64_t key, std::uint64_t element);
double normal(std::uint64_t key, std::uint64_t element);
std::uint64_t key_of(const std::string& id, const std::string& name, std::uint64_t seed);

}  // namespace ropewalk
