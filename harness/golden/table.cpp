#include "harness/golden/table.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "harness/cases/cell.hpp"
#include "harness/cases/exact_rope.hpp"
#include "harness/golden/formulas.hpp"
#include "reference/axes.hpp"
#include "reference/frequency_rounding.hpp"
#include "reference/rounding.hpp"

namespace ropewalk {
namespace {

using reference::Format;
using reference::Frequencies;
using reference::Proof;
using reference::Table;

// In the order of the file's list of tensors.
enum Tensors : std::size_t { kPositions, kInvFreq, kCos, kSin, kStoredInvFreq, kStoredCos, kStoredSin };

constexpr std::int64_t kBlockElements = 65536;  // of one tensor; a block is at most 512 KiB of float64
constexpr std::int64_t kRowsTogether = 64;      // the table makes neighbouring rows together, so blocks are multiples

std::vector<GoldenTensor> tensors_of(const TableProblem& p) {
  const std::int64_t rows = p.rows(), pairs = p.rope.rotary_dim() / 2, axes = p.rope.axes();
  const std::string rounded =
      ", a real number rounded once to " + std::string(name_of(p.dtype)) + ", to nearest, ties to even";
  const std::string theta = frequency_formula(p.rope, "j"), stored = "stored.inv_freq[j]";
  const auto value = [&](const char* function, const std::string& frequency) {
    return amplitude_formula(p.rope) + function + "(" + position_formula(p.rope, "i", "j") + " * " + frequency + ")" +
           axis_formula(p.rope, "j") + rounded;
  };
  const std::string once = ", a real number rounded once to float32, to nearest, ties to even";
  const Shape of_positions = axes == 1 ? Shape{rows} : Shape{rows, axes};
  const std::string position = axes == 1 ? "the position of row i" : "the position of row i on each axis";
  return {{"positions", "positions", DType::int64, of_positions, position, {"positions"}},
          {"inv_freq", "inv_freq", p.dtype, {pairs}, theta + rounded, {"inv_freq"}},
          {"cos", "cos", p.dtype, {rows, pairs}, value("cos", theta), {"cos", "sin"}},
          {"sin", "sin", p.dtype, {rows, pairs}, value("sin", theta), {"cos", "sin"}},
          {"stored.inv_freq", "inv_freq", DType::float32, {pairs}, theta + once, {"stored.inv_freq"}},
          {"stored.cos", "cos", p.dtype, {rows, pairs}, value("cos", stored), {"stored.cos", "stored.sin"}},
          {"stored.sin", "sin", p.dtype, {rows, pairs}, value("sin", stored), {"stored.cos", "stored.sin"}}};
}

// Numbers of the format as its bytes.
void encode(Format format, std::span<const double> values, std::byte* out) {
  const auto store = [&](auto element, std::size_t i) {
    std::copy_n(reinterpret_cast<const std::byte*>(&element), sizeof element, out + i * sizeof element);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (format == Format::float64) store(values[i], i);
    if (format == Format::float32) store(static_cast<float>(values[i]), i);
    if (format == Format::bfloat16) store(reference::bfloat16_bits(values[i]), i);
    if (format == Format::float16) store(reference::float16_bits(values[i]), i);
  }
}

class Maker {
 public:
  explicit Maker(const TableProblem& problem) : p_(problem), format_(format_of(p_.dtype)) {
    const Frequencies exact = frequencies_of(p_.rope);
    const reference::Amplitude amplitude = amplitude_of(p_.rope);
    inv_freq_ = reference::rounded_frequencies(exact, format_, inv_freq_proof_);
    stored_ = reference::rounded_frequencies(exact, Format::float32, stored_proof_);
    if (!std::all_of(stored_.begin(), stored_.end(), [](double f) { return std::isfinite(f); }))
      throw std::invalid_argument("frequencies that float32 can hold are needed");
    from_base_ = std::make_unique<Table>(exact, amplitude);
    from_stored_ = std::make_unique<Table>(Frequencies::given(stored_), amplitude);
    if (p_.axes.size() > 1)
      for (const int axis : axis_of_pairs(p_.rope)) columns_.push_back({axis, static_cast<int>(columns_.size())});
  }

  std::vector<Proof> operator()(const Sink& sink) const {
    std::vector<Proof> proofs(kStoredSin + 1);
    send(format_, inv_freq_, kInvFreq, sink);
    send(Format::float32, stored_, kStoredInvFreq, sink);
    proofs[kPositions].exact = p_.rows() * p_.rope.axes();
    proofs[kInvFreq] = inv_freq_proof_;
    proofs[kStoredInvFreq] = stored_proof_;
    const std::int64_t step = (kBlockElements / (p_.rope.rotary_dim() / 2) / kRowsTogether + 1) * kRowsTogether;
    for (std::int64_t first = 0; first < p_.rows(); first += step) {
      const OfAxes positions = block_of(first, std::min(step, p_.rows() - first));
      send_positions(positions, sink);
      proofs[kCos] += block(*from_base_, positions, kCos, kSin, sink);
      proofs[kStoredCos] += block(*from_stored_, positions, kStoredCos, kStoredSin, sink);
    }
    proofs[kSin] = proofs[kCos];
    proofs[kStoredSin] = proofs[kStoredCos];
    return proofs;
  }

 private:
  static void send(Format format, const std::vector<double>& values, std::size_t tensor, const Sink& sink) {
    std::vector<std::byte> bytes(values.size() * sizeof(double));
    encode(format, values, bytes.data());
    const std::size_t size = format == Format::float64 ? 8 : format == Format::float32 ? 4 : 2;
    sink(tensor, std::span(bytes).first(values.size() * size));
  }

  using OfAxes = std::vector<std::vector<std::int64_t>>;  // of a block of rows: on each axis, or once for all

  OfAxes block_of(std::int64_t first, std::int64_t rows) const {
    OfAxes out(p_.axes.size());
    for (std::size_t axis = 0; axis < out.size(); ++axis)
      for (std::int64_t i = first; i < first + rows; ++i) out[axis].push_back(p_.axes[axis].at(i));
    return out;
  }

  // Row by row, as the file has them.
  void send_positions(const OfAxes& positions, const Sink& sink) const {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < positions[0].size(); ++i)
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(p_.rope.axes()); ++axis)
        out.push_back(positions[positions.size() == 1 ? 0 : axis][i]);
    sink(kPositions, std::as_bytes(std::span(out)));
  }

  Proof block(const Table& table, const OfAxes& positions, std::size_t cos_tensor, std::size_t sin_tensor,
              const Sink& sink) const {
    const std::size_t values = positions[0].size() * static_cast<std::size_t>(table.pairs());
    const std::size_t size = values * bytes_of(p_.dtype);
    std::vector<std::byte> cos(size), sin(size);
    Proof proof;
    if (positions.size() == 1 && p_.axes[0].consecutive()) {
      proof = table.fill(format_, positions[0].front(), std::ssize(positions[0]), sin.data(), cos.data());
    } else {
      reference::SinCos rows;
      proof = positions.size() == 1 ? table.sparse(positions[0], rows)
                                    : reference::axis_rows(table, positions, columns_, rows);
      std::vector<double> rounded(values);
      round_to(format_, rows.cos, rows.cos_tail, rounded, proof);
      encode(format_, rounded, cos.data());
      round_to(format_, rows.sin, rows.sin_tail, rounded, proof);
      encode(format_, rounded, sin.data());
    }
    sink(cos_tensor, cos);
    sink(sin_tensor, sin);
    return proof;
  }

  const TableProblem& p_;
  Format format_;
  std::vector<double> inv_freq_, stored_;
  Proof inv_freq_proof_, stored_proof_;
  std::unique_ptr<Table> from_base_, from_stored_;
  std::vector<reference::Column> columns_;  // where axes have positions of their own
};

}  // namespace

GoldenFile golden_table(const TableProblem& problem) {
  GoldenFile file;
  file.kind = "rope_table";
  file.parameters = {{"rotary_dim", problem.rope.rotary_dim()},
                     {"base", plain_json(problem.rope.base)},
                     {"positions", to_json(problem.axes)},
                     {"dtype", name_of(problem.dtype)}};
  if (Json scaling = scaling_block(problem.rope); !scaling.is_null()) file.parameters["scaling"] = std::move(scaling);
  if (Json axes = axes_block(problem.rope); !axes.is_null()) file.parameters["axes"] = std::move(axes);
  file.tensors = tensors_of(problem);
  file.make = [problem](const Sink& sink) { return Maker(problem)(sink); };
  return file;
}

}  // namespace ropewalk
