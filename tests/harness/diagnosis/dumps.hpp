// Dumps for the tests of diagnosis: what recipes give, and tables made here with one thing wrong.
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/diagnosis/dump.hpp"
#include "harness/diagnosis/rows.hpp"
#include "harness/recipes/run.hpp"
#include "harness/tensors/safetensors.hpp"
#include "tests/harness/subjects/problems.hpp"

namespace ropewalk {

using Tensors = std::map<std::string, Tensor>;

constexpr std::int64_t kRows = 600, kPairs = 32;  // bfloat16 holds no odd position above 256

inline Case dumped_problem(DType dtype = DType::float32, double base = 10000) {
  Case problem;
  problem.rope.head_dim = 2 * kPairs;
  problem.rope.base = base;
  problem.positions.limit = kRows;
  problem.dtype = dtype;
  return problem;
}

// LibTorch's threads spin on a busy machine; the bits do not depend on them.
inline const bool kOneThread = (set_cpu_threads(1), true);

// Every stage that the recipe makes.
inline Tensors made_by(const std::string& recipe, const Case& problem, const std::string& device = "cpu",
                       bool module_cast = false) {
  return RecipeRun(find_recipe(recipe), make_device(device), problem, module_cast).rows(problem.positions.all());
}

// Only these stages.
inline Tensors only(const Tensors& all, const std::vector<std::string>& stages) {
  Tensors out;
  for (const std::string& stage : stages) out[stage] = all.at(stage);
  return out;
}

inline Tensor cast(const Tensor& tensor, DType dtype) {
  return make_device("cpu")->apply(Op::cast, std::vector<Argument>{tensor}, dtype);
}

inline float frequency(std::int64_t pair) {
  return static_cast<float>(std::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(kPairs)));
}

// Cosines and sines of these angles, each rounded to float32 once.
using Angle = std::function<double(std::int64_t row, std::int64_t pair)>;
inline Tensors table_of(const Angle& angle, double amplitude = 1) {
  Tensors out{{"cos", Tensor(DType::float32, {kRows, kPairs})}, {"sin", Tensor(DType::float32, {kRows, kPairs})}};
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t j = 0; j < kPairs; ++j) {
      const auto at = static_cast<std::size_t>(r * kPairs + j);
      out["cos"].as<float>()[at] = static_cast<float>(amplitude * std::cos(angle(r, j)));
      out["sin"].as<float>()[at] = static_cast<float>(amplitude * std::sin(angle(r, j)));
    }
  return out;
}
inline double product(std::int64_t position, float w) { return static_cast<float>(position) * w; }

// Every column twice: the second half repeats the first, or each column its neighbour.
inline Tensor twice(const Tensor& table, bool interleaved) {
  const std::int64_t rows = table.shape()[0], pairs = table.shape()[1];
  const auto bytes = static_cast<std::int64_t>(bytes_of(table.dtype()));
  Tensor out(table.dtype(), {rows, 2 * pairs});
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < pairs; ++j)
      for (const std::int64_t copy : {0, 1}) {
        const std::int64_t column = interleaved ? 2 * j + copy : j + copy * pairs;
        std::copy_n(table.bytes().data() + (r * pairs + j) * bytes, bytes,
                    out.bytes().data() + (r * 2 * pairs + column) * bytes);
      }
  return out;
}

// What is known of these dumps unless a test says otherwise.
inline Known usual() {
  Known known;
  known.base = 10000;
  known.head_dim = 2 * kPairs;
  return known;
}

class DumpFolder {
 public:
  Dump read(const Tensors& tensors, const Known& known = usual()) const {
    write_safetensors(folder_.path / "dump.safetensors", tensors);
    return read_dump(folder_.path / "dump.safetensors", known);
  }

 private:
  TestFolder folder_;
};

}  // namespace ropewalk
