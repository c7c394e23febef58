// Sine and cosine of position * theta_j, times an amplitude, proved. docs/numerics.md, section 1, has the algorithm,
// its bounds and sources.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "reference/amplitude.hpp"
#include "reference/format.hpp"
#include "reference/frequencies.hpp"

namespace ropewalk::reference {

// How the values were proved. Each counts single values (a sine and a cosine are two).
struct Proof {
  std::int64_t fast = 0;       // in double-double, by Ziv's rounding test
  std::int64_t fallback = 0;   // by MPFR with growing precision
  std::int64_t exact = 0;      // known without computing: position 0, angle or frequency 0, NaN of NaN and infinity
  std::int64_t midpoints = 0;  // narrowings whose double may be a midpoint of the format: decided by the tail's sign
  std::int64_t undecided = 0;  // not proved (only possible outside the theorem; never for powers and given numbers)
  Proof& operator+=(const Proof& other);
};

// A block of the table, row-major [rows][pairs]: head is the correctly rounded double; head + tail is within `error` of
// the value. tail has the sign of value - head for certain, and is 0 only where they are equal (round_to relies on it).
struct SinCos {
  std::int64_t rows = 0;
  int pairs = 0;
  std::vector<double> sin, sin_tail, cos, cos_tail;
  double error = 0x1p-98;  // times the amplitude
  void resize(std::int64_t row_count, int pair_count);
};

// Half-width of the rounding test, four times the proved error of the fast path. A larger one is as right and slower:
// tests use it to force the fall-back.
constexpr double kRoundingTestError = 0x1p-98;

constexpr std::int64_t kMaxPosition = std::int64_t{1} << 53;

// Thread-safe once made; needs 33 * 32 bytes a pair.
class Table {
 public:
  explicit Table(Frequencies frequencies, double rounding_test_error = kRoundingTestError)
      : Table(std::move(frequencies), Amplitude(), rounding_test_error) {}
  Table(Frequencies frequencies, Amplitude amplitude, double rounding_test_error = kRoundingTestError);
  const Frequencies& frequencies() const { return frequencies_; }
  const Amplitude& amplitude() const { return amplitude_; }
  int pairs() const { return frequencies_.size(); }
  // Pair j is this table's pair pairs[j].
  Table picked(std::span<const int> pairs) const { return {frequencies_.picked(pairs), amplitude_, error_}; }

  // Positions first .. first+count-1, in order. 0 <= positions <= kMaxPosition, here and below.
  Proof dense(std::int64_t first, std::int64_t count, SinCos& out) const;
  // Any positions in the order given, each evaluated by itself.
  Proof sparse(std::span<const std::int64_t> positions, SinCos& out) const;

  // For streams: the rows of correctly rounded doubles, pairs() long, each once in no particular order. They are in the
  // first-level cache and last until the visitor returns.
  using Visitor = std::function<void(std::int64_t position, const double* sin, const double* cos)>;
  Proof for_each_row(std::int64_t first, std::int64_t count, const Visitor& visit) const;
  // A row from for_each_row, correctly rounded to the format: float, 16-bit patterns or double.
  void narrow(Format format, std::int64_t position, const double* sin, const double* cos, void* sin_out, void* cos_out,
              Proof& proof) const;
  // Rows first .. first+count-1 in the format, row-major [count][pairs].
  Proof fill(Format format, std::int64_t first, std::int64_t count, void* sin_out, void* cos_out) const;

 private:
  struct Rows;
  Frequencies frequencies_;
  Amplitude amplitude_;
  double error_;
  std::vector<double> errors_;  // the test's half-width for each pair, without the amplitude: 0 where the frequency is
                                // 0, as the values are exact
  std::vector<double> product_errors_;  // of the test after the product with the amplitude; empty where that is 1
  std::vector<double> fine_;            // rows of the positions 0 .. kReach, each [sin, sin_tail, cos, cos_tail][pairs]
  void check_range(std::int64_t first, std::int64_t count) const;
  void narrow_columns(Format format, std::int64_t position, int begin, int n, const double* sin, const double* cos,
                      void* sin_out, void* cos_out, Proof& proof) const;
};

// Level E2: sine and cosine of exactly given angles (any finite doubles; NaN and infinity give NaN), times an
// amplitude.
Proof sin_cos_of_angles(std::span<const double> angles, std::int64_t rows, int pairs, SinCos& out,
                        double rounding_test_error = kRoundingTestError, const Amplitude& amplitude = {});

// The correctly rounded number of `format` for each value head + tail of a SinCos, as a double; counts proof.midpoints.
void round_to(Format format, std::span<const double> head, std::span<const double> tail, std::span<double> out,
              Proof& proof);

}  // namespace ropewalk::reference
