#include "reference/self_check.hpp"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cfenv>

namespace ropewalk::reference {
namespace {

TEST(SelfCheck, PassesAsBuilt) { EXPECT_EQ(self_check(), ""); }

TEST(SelfCheck, SeesEveryRoundingModeButToNearest) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const std::string found = self_check();
    std::fesetround(FE_TONEAREST);
    EXPECT_NE(found.find("rounding mode"), std::string::npos) << mode;
  }
}

TEST(SelfCheck, SeesSubnormalNumbersFlushed) {
  for (const unsigned flag : {0x8000u, 0x0040u}) {  // MXCSR: flush to zero, denormals are zero
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | flag);
    const std::string found = self_check();
    _mm_setcsr(before);
    EXPECT_NE(found.find("subnormal"), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace ropewalk::reference
