#include "reference/frequency_rounding.hpp"

#include <optional>

#include "reference/fallback.hpp"
#include "reference/real.hpp"
#include "reference/rounding.hpp"

namespace ropewalk::reference {
namespace {

constexpr int kFirstBits = 192;

// x as head + tail: head nearest, tail away from zero so that its sign survives where it underflows.
double round_real(const Real& x, Format format, bool& midpoint) {
  const double head = mpfr_get_d(raw(x), MPFR_RNDN);
  if (!std::isfinite(head)) return head;
  Real rest = real(static_cast<int>(mpfr_get_prec(raw(x))));
  mpfr_sub_d(raw(rest), raw(x), head, MPFR_RNDA);
  midpoint = needs_tail(head, format);
  return round_head_tail(head, mpfr_get_d(raw(rest), MPFR_RNDA), format);
}

// What every number within the error of `bits` bits rounds to, if they agree.
std::optional<double> agreed(const Frequencies& frequencies, Format format, int j, int bits, bool& midpoint) {
  const Real theta = frequencies.at(j, bits);
  Real ends[2] = {real(bits + 16), real(bits + 16)};
  double rounded[2];
  for (int side = 0; side < 2; ++side) {
    mpfr_set_si_2exp(raw(ends[side]), side == 0 ? -1 : 1, 8 - bits, MPFR_RNDN);
    mpfr_add_ui(raw(ends[side]), raw(ends[side]), 1, MPFR_RNDN);
    mpfr_mul(raw(ends[side]), raw(ends[side]), raw(theta), side == 0 ? MPFR_RNDD : MPFR_RNDU);
    rounded[side] = round_real(ends[side], format, midpoint);
  }
  if (rounded[0] != rounded[1]) return std::nullopt;
  return rounded[0];
}

}  // namespace

std::vector<double> rounded_frequencies(const Frequencies& frequencies, Format format, Proof& proof) {
  std::vector<double> out;
  for (int j = 0; j < frequencies.size(); ++j) {
    bool midpoint = false;
    std::optional<double> value;
    if (const auto finite = frequencies.finite(j)) {
      value = round_real(*finite, format, midpoint);
      ++proof.exact;
    }
    const int most = frequencies.algebraic(j) ? kMostBits : kMostBitsOutside;
    for (int bits = kFirstBits; !value && bits <= most; bits *= 2) {
      value = agreed(frequencies, format, j, bits, midpoint);
      if (value) ++(bits == kFirstBits ? proof.fast : proof.fallback);
    }
    if (!value) {
      value = round_real(frequencies.at(j, most), format, midpoint);
      ++proof.undecided;
    }
    if (midpoint) ++proof.midpoints;
    out.push_back(*value);
  }
  return out;
}

}  // namespace ropewalk::reference
