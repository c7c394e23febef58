#include "reference/turns.hpp"

#include <bit>
#include <vector>

namespace ropewalk::reference {
namespace {

constexpr int kTurnBits = 192;
constexpr int kGuardBits = 64;

// A double is m * 2^e with m < 2^53. The windows hold frac(2^e / 2 pi), so that m times a window, modulo one turn, is
// the reduced angle (Payne and Hanek 1983).
constexpr int kLowestExponent = -32 - 52;
constexpr int kHighestExponent = 1023 - 52;

// By the exponent field of the angle; 0 for those that have none.
std::vector<Turns> make_windows() {
  std::vector<Turns> windows(1023 + 52 + kLowestExponent);
  TurnsOf turns_of(kHighestExponent + 1);
  for (int e = kLowestExponent; e <= kHighestExponent; ++e) {
    Real power = real(1.0, 53);
    mpfr_mul_2si(raw(power), raw(power), e, MPFR_RNDN);
    windows.push_back(turns_of(power));
  }
  windows.emplace_back();  // infinity and NaN
  return windows;
}

}  // namespace

TurnsOf::TurnsOf(int max_exponent)
    : inverse_turn_(real(kTurnBits + kGuardBits + (max_exponent > 0 ? max_exponent : 0))), scaled_(inverse_turn_) {
  mpfr_const_pi(raw(scaled_), MPFR_RNDN);
  mpfr_mul_2ui(raw(scaled_), raw(scaled_), 1, MPFR_RNDN);
  mpfr_ui_div(raw(inverse_turn_), 1, raw(scaled_), MPFR_RNDN);
  mpz_init(integer_);
}

TurnsOf::~TurnsOf() { mpz_clear(integer_); }

Turns TurnsOf::operator()(const Real& angle) {
  mpfr_mul(raw(scaled_), raw(angle), raw(inverse_turn_), MPFR_RNDN);
  mpfr_mul_2ui(raw(scaled_), raw(scaled_), kTurnBits, MPFR_RNDN);
  mpfr_get_z(integer_, raw(scaled_), MPFR_RNDN);
  mpz_fdiv_r_2exp(integer_, integer_, kTurnBits);  // modulo one turn, also of a negative angle
  Turns turns;
  mpz_export(turns.words.data(), nullptr, -1, sizeof(std::uint64_t), 0, 0, integer_);
  return turns;
}

void turns_of_angles(const double* angles, int n, std::uint64_t* high, std::uint64_t* low) {
  static const std::vector<Turns> all_windows = make_windows();
  const Turns* windows = all_windows.data();
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kImplicit = std::uint64_t{1} << 52;
  for (int i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(angles[i]);
    const Turn128 turn = times(windows[(bits >> 52) & 0x7ff], (bits & (kImplicit - 1)) | kImplicit);
    const Wide minus = 0 - static_cast<Wide>(bits >> 63);  // all ones for a negative angle: its turn is the complement
    const Wide signed_turn = (((static_cast<Wide>(turn.high) << 64) | turn.low) ^ minus) - minus;
    high[i] = static_cast<std::uint64_t>(signed_turn >> 64);
    low[i] = static_cast<std::uint64_t>(signed_turn);
  }
}

}  // namespace ropewalk::reference
