ropewalk_test(state_test
  SOURCES harness/cases/state_test.cpp harness/checks/state_case_test.cpp harness/recipes/state_test.cpp
  LIBRARIES ropewalk_checks)
add_test(NAME cases.state WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMAND ropewalk run cases/state.json --report ${CMAKE_BINARY_DIR}/reports/state.json)
