ropewalk_test(checks_test SOURCES harness/checks/checks_test.cpp LIBRARIES ropewalk_checks)
