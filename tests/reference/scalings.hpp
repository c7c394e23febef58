// Scalings of the tests, and numbers as they are printed.
#pragma once

#include <cmath>
#include <string>

#include "reference/real.hpp"
#include "reference/scaling.hpp"

namespace ropewalk::reference {

inline Scaling linear(double factor) {
  Scaling s;
  s.type = Scaling::Type::linear;
  s.factor = factor;
  return s;
}

inline Scaling dynamic(double factor, double max_positions, double length) {
  Scaling s = linear(factor);
  s.type = Scaling::Type::dynamic;
  s.max_position_embeddings = max_positions;
  s.length = length;
  return s;
}

inline Scaling yarn(double factor, double original, bool truncate = true) {
  Scaling s = linear(factor);
  s.type = Scaling::Type::yarn;
  s.original_max_position_embeddings = original;
  s.truncate = truncate;
  return s;
}

inline Scaling llama3(double factor, double low, double high, double original) {
  Scaling s = linear(factor);
  s.type = Scaling::Type::llama3;
  s.low_freq_factor = low;
  s.high_freq_factor = high;
  s.original_max_position_embeddings = original;
  return s;
}

inline Scaling longrope(double factor, double original, std::vector<double> short_list, std::vector<double> long_list,
                        double length) {
  Scaling s = linear(factor);
  s.type = Scaling::Type::longrope;
  s.original_max_position_embeddings = original;
  s.short_factor = std::move(short_list);
  s.long_factor = std::move(long_list);
  s.length = length;
  return s;
}

inline Scaling proportional(double proportion, double factor = 1) {
  Scaling s = linear(factor);
  s.type = Scaling::Type::proportional;
  s.proportion = proportion;
  return s;
}

// Whether x is the printed number to all its digits, with one unit in the last of them.
inline bool is_printed(const Real& x, const std::string& text) {
  Real printed = real(300), unit = real(64);
  mpfr_set_str(raw(printed), text.c_str(), 10, MPFR_RNDN);
  mpfr_sub(raw(printed), raw(printed), raw(x), MPFR_RNDN);
  const std::size_t exponent_at = text.find('e'), point = text.find('.');
  const std::size_t digits = (exponent_at == std::string::npos ? text.size() : exponent_at) - point - 1;
  const int exponent = exponent_at == std::string::npos ? 0 : std::stoi(text.substr(exponent_at + 1));
  mpfr_ui_pow_ui(raw(unit), 10, digits, MPFR_RNDN);
  mpfr_ui_div(raw(unit), 1, raw(unit), MPFR_RNDN);
  Real scale = real(64);
  mpfr_set_ui(raw(scale), 10, MPFR_RNDN);
  mpfr_pow_si(raw(scale), raw(scale), exponent, MPFR_RNDN);
  mpfr_mul(raw(unit), raw(unit), raw(scale), MPFR_RNDN);
  return mpfr_cmpabs(raw(printed), raw(unit)) < 0;
}

}  // namespace ropewalk::reference
