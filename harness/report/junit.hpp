// A report as JUnit XML, which CI systems show.
#pragma once

#include <string>

#include "harness/report/result.hpp"

namespace ropewalk {

// One testsuite for each case, one testcase for each result: an expected verdict is a success (skipped: skipped), an
// unexpected one a failure, an unexpected error verdict an error. An interrupted run adds a testcase that is an error.
std::string junit_text(const Report& report);

}  // namespace ropewalk
