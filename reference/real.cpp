#include "reference/real.hpp"

namespace ropewalk::reference {
namespace {

// MPFR caches pi for each thread and leaves it to the thread to give it back.
struct CacheOfThread {
  ~CacheOfThread() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

}  // namespace

Real real(int bits) {
  thread_local const CacheOfThread cache;
  static_cast<void>(cache);
  Real x;
  mpfr_set_prec(raw(x), bits);
  mpfr_set_zero(raw(x), 1);
  return x;
}

Real real(double value, int bits) {
  Real x = real(bits);
  mpfr_set_d(raw(x), value, MPFR_RNDN);
  return x;
}

}  // namespace ropewalk::reference
