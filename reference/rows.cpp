#include "reference/rows.hpp"

#include <algorithm>

#include "reference/clones.hpp"
#include "reference/real.hpp"
#include "reference/row_entries.hpp"

namespace ropewalk::reference {
namespace {

TurnTable make_turn_table() {
  TurnTable table{};
  Real angle = real(32), value = real(160);
  const auto put = [&](int step, double* head, double* tail) {
    head[step] = mpfr_get_d(raw(value), MPFR_RNDN);
    mpfr_sub_d(raw(value), raw(value), head[step], MPFR_RNDN);
    tail[step] = mpfr_get_d(raw(value), MPFR_RNDN);
  };
  for (int step = 0; step < kTurnSteps; ++step) {
    mpfr_set_si(raw(angle), step, MPFR_RNDN);
    mpfr_sinu(raw(value), raw(angle), kTurnSteps, MPFR_RNDN);
    put(step, table.sin, table.sin_tail);
    mpfr_cosu(raw(value), raw(angle), kTurnSteps, MPFR_RNDN);
    put(step, table.cos, table.cos_tail);
  }
  return table;
}

}  // namespace

const TurnTable& turn_table() {
  static const TurnTable table = make_turn_table();
  return table;
}

// The bodies of the loops are functions of their own: g++ 12 does not vectorise a loop whose body declares structs.
namespace {

ROPEWALK_INLINE void turn_entry(std::uint64_t high, std::uint64_t low, const TurnTable& table, double error,
                                double* out, std::int64_t stride, std::uint64_t& unproven) {
  const SinCosPair v = sin_cos_of_turn(high, low, table);
  store(out, stride, round_testing_tail(v.sin, error, unproven), round_testing_tail(v.cos, error, unproven));
}

ROPEWALK_INLINE void rotated_entry(const double* a, std::int64_t sa, const double* b, std::int64_t sb, double error,
                                   double* sum, double* difference, std::int64_t stride, std::uint64_t& unproven) {
  const SumAndDifference v = rotate_entry(a, sa, b, sb);
  store(sum, stride, round_testing_tail(v.sum.sin, error, unproven), round_testing_tail(v.sum.cos, error, unproven));
  store(difference, stride, round_testing_tail(v.difference.sin, error, unproven),
        round_testing_tail(v.difference.cos, error, unproven));
}

ROPEWALK_INLINE void rotated_heads(const double* a, std::int64_t sa, const double* b, std::int64_t sb, double error,
                                   double* heads, std::int64_t n, std::uint64_t& unproven) {
  const SumAndDifference v = rotate_entry(a, sa, b, sb);
  heads[0] = round_testing(v.sum.sin, error, unproven);
  heads[n] = round_testing(v.sum.cos, error, unproven);
  heads[2 * n] = round_testing(v.difference.sin, error, unproven);
  heads[3 * n] = round_testing(v.difference.cos, error, unproven);
}

// Keeps the least of the values' last 28 bits: 0 if there may be a midpoint.
ROPEWALK_INLINE void note_last_bits(double v, std::uint64_t& least) {
  least = std::min(least, std::bit_cast<std::uint64_t>(v) & kMidpointMask);
}

}  // namespace

ROPEWALK_CLONES bool sin_cos_of_turns(const std::uint64_t* high, const std::uint64_t* low, int n, const double* error,
                                      Row out) {
  const TurnTable& table = turn_table();
  std::uint64_t unproven = 0;
#pragma omp simd reduction(| : unproven)
  for (int j = 0; j < n; ++j) turn_entry(high[j], low[j], table, error[j], out.values + j, out.stride, unproven);
  return unproven != 0;
}

ROPEWALK_CLONES bool rotate_rows(Row centre, Row b, int n, const double* error, Row sum, Row difference) {
  std::uint64_t unproven = 0;
#pragma omp simd reduction(| : unproven)
  for (int j = 0; j < n; ++j) {
    rotated_entry(centre.values + j, centre.stride, b.values + j, b.stride, error[j], sum.values + j,
                  difference.values + j, sum.stride, unproven);
  }
  return unproven != 0;
}

ROPEWALK_CLONES bool rotate_rows_heads(Row centre, Row b, int n, const double* error, double* heads) {
  std::uint64_t unproven = 0;
#pragma omp simd reduction(| : unproven)
  for (int j = 0; j < n; ++j) {
    rotated_heads(centre.values + j, centre.stride, b.values + j, b.stride, error[j], heads + j, n, unproven);
  }
  return unproven != 0;
}

ROPEWALK_CLONES bool narrow_row(const double* values, int n, float* out) {
  std::uint64_t least = ~std::uint64_t{0};
#pragma omp simd reduction(min : least)
  for (int j = 0; j < n; ++j) {
    out[j] = static_cast<float>(values[j]);
    note_last_bits(values[j], least);
  }
  return least == 0;
}

namespace {

ROPEWALK_CLONES bool narrow_to_bfloat16(const double* values, int n, std::uint16_t* out) {
  std::uint64_t least = ~std::uint64_t{0};
#pragma omp simd reduction(min : least)
  for (int j = 0; j < n; ++j) {
    out[j] = bfloat16_bits(round_double(values[j], Format::bfloat16));
    note_last_bits(values[j], least);
  }
  return least == 0;
}

ROPEWALK_CLONES bool narrow_to_float16(const double* values, int n, std::uint16_t* out) {
  std::uint64_t least = ~std::uint64_t{0};
#pragma omp simd reduction(min : least)
  for (int j = 0; j < n; ++j) {
    out[j] = float16_bits(round_double(values[j], Format::float16));
    note_last_bits(values[j], least);
  }
  return least == 0;
}

}  // namespace

bool narrow_row(Format format, const double* values, int n, std::uint16_t* out) {
  return format == Format::bfloat16 ? narrow_to_bfloat16(values, n, out) : narrow_to_float16(values, n, out);
}

}  // namespace ropewalk::reference
