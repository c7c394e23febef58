// Which frequencies have finitely many binary digits: a rounding test would never end on those where they are
// midpoints.
#pragma once

#include <boost/multiprecision/gmp.hpp>
#include <optional>

#include "reference/real.hpp"

namespace ropewalk::reference {

using Whole = boost::multiprecision::mpz_int;
using Rational = boost::multiprecision::mpq_rational;

inline mpz_ptr raw(Whole& x) { return x.backend().data(); }
inline mpz_srcptr raw(const Whole& x) { return x.backend().data(); }
inline mpq_srcptr raw(const Rational& x) { return x.backend().data(); }

// The largest n for which base is the n-th power of a rational number; 0 for base 1, which is any power.
int largest_root(double base);

// factor * base^(-2j/dim) where it is m 2^k with whole m and k, for rational powers: dim divides 2 j
// largest_root(base).
std::optional<Real> finite_power(double base, int dim, int j, const Rational& factor);

// base^(-2j/dim) * stretch^(-2j/(dim-2)) where it is m 2^k; `value` is that number, with a relative error of at most
// 2^-200. The odd part m divides a power of the stretch's denominator below it, so that few digits decide on a
// candidate.
std::optional<Real> finite_stretched_power(double base, int dim, int j, const Rational& stretch, const Real& value);

}  // namespace ropewalk::reference
