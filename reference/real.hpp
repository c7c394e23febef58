// Real numbers of chosen precision: MPFR numbers, owned and printed by Boost.Multiprecision.
#pragma once

#include <boost/multiprecision/mpfr.hpp>

namespace ropewalk::reference {

// Boost's default precision is one variable for the whole process, and its operators and functions change it while they
// run (Boost 1.74, scoped_default_precision). So that threads cannot disturb each other, compute with MPFR's functions
// on raw(x), whose precision is that of the target; construct with real(); copies and comparisons are safe.
using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<0>, boost::multiprecision::et_off>;

Real real(int bits);                // 0, with a significand of `bits` bits
Real real(double value, int bits);  // rounded to nearest

inline mpfr_ptr raw(Real& x) { return x.backend().data(); }
inline mpfr_srcptr raw(const Real& x) { return x.backend().data(); }

}  // namespace ropewalk::reference
