#include "harness/subjects/program_outputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/bad_input.hpp"
#include "harness/subjects/table_stages.hpp"
#include "harness/tensors/blocks.hpp"
#include "harness/tensors/safetensors.hpp"

namespace ropewalk {
namespace {

namespace fs = std::filesystem;

// What the program wrote, checked. A copy is read, because a program that goes on writing after its answer would pull
// the mapped file away under us; nothing of it remains in the folder.
std::map<std::string, Tensor> read_written(const fs::path& written) {
  std::error_code error;
  if (!fs::is_regular_file(written, error)) throw SubjectError("it answered ok but wrote no file of outputs");
  const fs::path kept = written.string() + ".kept";
  fs::copy_file(written, kept, error);
  if (error) throw SubjectError("its outputs cannot be copied: " + error.message());
  fs::remove(written, error);
  std::map<std::string, Tensor> tensors;
  try {
    tensors = read_safetensors(kept);
  } catch (const BadInput& bad) {
    throw SubjectError("its outputs" + std::string(bad.what()).substr(kept.string().size()));
  }
  fs::remove(kept, error);
  return tensors;
}

// Positions [axes, rows] as [rows, axes].
Tensor rows_first(const Tensor& positions) {
  const std::int64_t axes = positions.shape()[0], rows = positions.shape()[1];
  Tensor out(DType::int64, {rows, axes});
  const auto from = positions.as<std::int64_t>();
  const auto to = out.as<std::int64_t>();
  for (std::int64_t i = 0; i < rows * axes; ++i) to[i] = from[i % axes * rows + i / axes];
  return out;
}

}  // namespace

Stages outputs_in(const fs::path& written, const Case& problem) {
  const std::map<std::string, Tensor> tensors = read_written(written);
  Stages stages;
  for (const std::string_view stage : stages_of(problem.kind()))
    if (const auto found = tensors.find(std::string(stage)); found != tensors.end()) stages.insert(*found);
  if (stages.empty())
    throw SubjectError(fmt::format("its outputs hold none of {}", fmt::join(stages_of(problem.kind()), ", ")));
  return stages;
}

Stages table_outputs(const fs::path& written, const Case& problem) {
  Stages stages = outputs_in(written, problem);
  const std::int64_t pairs = problem.rope.rotary_dim() / 2, axes = problem.rope.axes();
  const std::int64_t rows = problem.positions.count();
  const Shape of_positions = axes == 1 ? Shape{rows} : Shape{axes, rows};
  for (const std::string_view name : stages_of(Kind::table)) {
    const std::string stage(name);
    const auto found = stages.find(stage);
    if (found == stages.end()) continue;
    const Shape expected = stage == "positions"  ? of_positions
                           : stage == "inv_freq" ? Shape{pairs}
                                                 : Shape{rows, pairs};
    if (found->second.shape() != expected)
      throw SubjectError(
          fmt::format("{} has shape {}; accepted: {}", stage, shape_text(found->second.shape()), shape_text(expected)));
    check_dtype(stage, found->second, problem.dtype);
    if (stage == "positions" && axes > 1) found->second = rows_first(found->second);
  }
  return stages;
}

Tensor at_all_heads(const Tensor& keys, const Attention& attention) {
  const Shape& shape = keys.shape();
  if (shape.size() != 4 || shape[2] != attention.kv_heads || attention.heads == attention.kv_heads) return keys;
  const auto vector = static_cast<std::size_t>(shape[3]) * bytes_of(keys.dtype());
  const auto repeated =
      each_block_repeated(keys.bytes(), vector, static_cast<std::size_t>(attention.heads / attention.kv_heads));
  Tensor out(keys.dtype(), {shape[0], shape[1], attention.heads, shape[3]});
  std::copy(repeated.begin(), repeated.end(), out.bytes().begin());
  return out;
}

}  // namespace ropewalk
