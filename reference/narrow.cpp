// Table's rows in other formats than double, and round_to: every narrowing of proved values.
#include <algorithm>

#include "reference/table_rows.hpp"

namespace ropewalk::reference {
namespace {

void store(Format format, void* out, std::int64_t j, double value) {
  switch (format) {
    case Format::float64:
      static_cast<double*>(out)[j] = value;
      return;
    case Format::float32:
      static_cast<float*>(out)[j] = static_cast<float>(value);
      return;
    case Format::bfloat16:
      static_cast<std::uint16_t*>(out)[j] = bfloat16_bits(value);
      return;
    case Format::float16:
      static_cast<std::uint16_t*>(out)[j] = float16_bits(value);
      return;
  }
}

bool narrow_values(Format format, const double* values, int n, void* out) {
  switch (format) {
    case Format::float64:
      std::copy_n(values, n, static_cast<double*>(out));
      return false;
    case Format::float32:
      return narrow_row(values, n, static_cast<float*>(out));
    case Format::bfloat16:
    case Format::float16:
      return narrow_row(format, values, n, static_cast<std::uint16_t*>(out));
  }
  return false;
}

std::int64_t bytes_of(Format format) { return format == Format::float64 ? 8 : format == Format::float32 ? 4 : 2; }

}  // namespace

// The columns begin .. begin+n-1 of a row.
void Table::narrow_columns(Format format, std::int64_t position, int begin, int n, const double* sin, const double* cos,
                           void* sin_out, void* cos_out, Proof& proof) const {
  const auto decide = [&](const double* values, void* out, Rounded RoundedSinCos::*which) {
    if (!narrow_values(format, values, n, out)) return;
    for (int j = 0; j < n; ++j) {
      if (!needs_tail(values[j], format)) continue;
      Proof again;  // the value itself is counted already
      const Rounded v = prove(frequencies_, amplitude_, position, begin + j, error_, again).*which;
      ++(v.proven ? proof.midpoints : proof.undecided);
      store(format, out, j, round_head_tail(v.head, v.tail, format));
    }
  };
  decide(sin, sin_out, &RoundedSinCos::sin);
  decide(cos, cos_out, &RoundedSinCos::cos);
}

void Table::narrow(Format format, std::int64_t position, const double* sin, const double* cos, void* sin_out,
                   void* cos_out, Proof& proof) const {
  narrow_columns(format, position, 0, pairs(), sin, cos, sin_out, cos_out, proof);
}

// One centre's rows at a time. Stores to far memory that are spread over the computation stall it, unless their cache
// lines are asked for in time: a row asks for those of the row kStride further on.
Proof Table::fill(Format format, std::int64_t first, std::int64_t count, void* sin_out, void* cos_out) const {
  constexpr std::int64_t kLine = 64;  // bytes
  check_range(first, count);
  const std::int64_t size = bytes_of(format), end = first + count;
  std::vector<Rows> tiles;
  for (int begin = 0; begin < pairs(); begin += kTile)
    tiles.emplace_back(*this, begin, std::min(kTile, pairs() - begin));
  Proof proof;
  for (std::int64_t block = first, block_end = 0; block < end; block = block_end) {
    block_end = std::min(end, (block + kReach) / kStride * kStride + kReach);  // the last row of the same centre
    for (Rows& rows : tiles) {
      rows.heads(block, block_end - block, [&](std::int64_t position, const double* sin, const double* cos) {
        const std::int64_t offset = ((position - first) * pairs() + rows.begin) * size;
        char* const sin_row = static_cast<char*>(sin_out) + offset;
        char* const cos_row = static_cast<char*>(cos_out) + offset;
        if (position + kStride < end) {
          const std::int64_t ahead = kStride * pairs() * size;
          for (std::int64_t byte = 0; byte < rows.pairs * size; byte += kLine) {
            __builtin_prefetch(sin_row + ahead + byte, 1);
            __builtin_prefetch(cos_row + ahead + byte, 1);
          }
        }
        narrow_columns(format, position, rows.begin, rows.pairs, sin, cos, sin_row, cos_row, proof);
      });
    }
  }
  for (const Rows& rows : tiles) proof += rows.proof;
  return proof;
}

void round_to(Format format, std::span<const double> head, std::span<const double> tail, std::span<double> out,
              Proof& proof) {
  for (std::size_t i = 0; i < head.size(); ++i) {
    out[i] = round_head_tail(head[i], tail[i], format);
    if (needs_tail(head[i], format)) ++proof.midpoints;
  }
}

}  // namespace ropewalk::reference
