file(GLOB _diagnosis_tests CONFIGURE_DEPENDS harness/diagnosis/*_test.cpp)
ropewalk_test(diagnosis_test SOURCES ${_diagnosis_tests} LIBRARIES ropewalk_diagnosis fmt::fmt-header-only)
