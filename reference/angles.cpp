// Level E2: sine and cosine of given angles.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "reference/prove.hpp"
#include "reference/rows.hpp"
#include "reference/table.hpp"

namespace ropewalk::reference {
namespace {

constexpr std::size_t kChunk = 256;

struct Chunk {
  const Amplitude& amplitude;
  std::array<std::uint64_t, kChunk> high{}, low{};
  std::array<double, kChunk> errors{}, product_errors{};
  std::array<double, 4 * kChunk> values{};
};

// Fills out[i + k] for the angles k; at most kChunk.
void evaluate(std::span<const double> angles, double rounding_test_error, Chunk& chunk, SinCos& out, std::size_t i,
              Proof& proof) {
  const int n = static_cast<int>(angles.size());
  const Row row = {chunk.values.data(), kChunk};
  turns_of_angles(angles.data(), n, chunk.high.data(), chunk.low.data());
  bool failed = sin_cos_of_turns(chunk.high.data(), chunk.low.data(), n, chunk.errors.data(), row);
  const bool amplified = !chunk.amplitude.is_one();
  if (amplified)
    failed = amplify_row(row, n, {chunk.amplitude.head(), chunk.amplitude.tail()}, chunk.product_errors.data());
  const double tested = (amplified ? chunk.product_errors : chunk.errors).front();
  proof.fast += 2 * n;
  for (int k = 0; failed && k < n; ++k) {
    if (rounds_to_head(row.sin()[k], row.sin_tail()[k], tested) &&
        rounds_to_head(row.cos()[k], row.cos_tail()[k], tested)) {
      continue;
    }
    proof.fast -= 2;
    const RoundedSinCos v =
        prove_angle(angles[static_cast<std::size_t>(k)], chunk.amplitude, rounding_test_error, proof);
    row.sin()[k] = v.sin.head;
    row.sin_tail()[k] = v.sin.tail;
    row.cos()[k] = v.cos.head;
    row.cos_tail()[k] = v.cos.tail;
  }
  std::copy_n(row.sin(), n, out.sin.data() + i);
  std::copy_n(row.sin_tail(), n, out.sin_tail.data() + i);
  std::copy_n(row.cos(), n, out.cos.data() + i);
  std::copy_n(row.cos_tail(), n, out.cos_tail.data() + i);
}

}  // namespace

Proof sin_cos_of_angles(std::span<const double> angles, std::int64_t rows, int pairs, SinCos& out,
                        double rounding_test_error, const Amplitude& amplitude) {
  if (rows < 0 || pairs < 0 || angles.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(pairs)) {
    throw std::invalid_argument("the number of angles is not rows * pairs");
  }
  out.resize(rows, pairs);
  out.error = kRoundingTestError * amplitude.head();
  const double error = std::max(rounding_test_error, kRoundingTestError);
  Chunk chunk{amplitude};
  chunk.errors.fill(error);
  chunk.product_errors.fill(error * amplitude.head());
  Proof proof;
  for (std::size_t i = 0; i < angles.size(); i += kChunk) {
    evaluate(angles.subspan(i, std::min(kChunk, angles.size() - i)), error, chunk, out, i, proof);
  }
  return proof;
}

}  // namespace ropewalk::reference
