ropewalk_test(axes_test SOURCES harness/checks/axes_test.cpp harness/checks/outside_axes_test.cpp LIBRARIES ropewalk_checks)
